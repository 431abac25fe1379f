export { settingsWithToy, toyModule } from './toy-module.ts';
export { newerToy, toy } from './toy.ts';
