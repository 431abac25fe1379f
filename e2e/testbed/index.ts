export { pdb, spotPercentage } from './repair.ts';
export { openStage, type Stage } from './stage.ts';
