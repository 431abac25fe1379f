export { pdb, spotPercentage } from './repair.ts';
export { openTestbed, type Testbed } from './testbed.ts';
