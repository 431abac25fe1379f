export { type CapacityType, capacityTypes, isCapacityType, otherType } from './capacity/type.ts';
export { typeForNext } from './distribution/next.ts';
export { deletionCost, ordinalType, position, slotType } from './distribution/slot.ts';
export {
  clamp,
  drift,
  type PolicyNumbers,
  spotAfterGrowth,
  spotAmongSurvivors,
  targetOnDemand,
  targetSpot,
  type TypeCounts,
} from './distribution/target.ts';
