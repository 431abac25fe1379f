/** What a node costs and how easily it goes: the two kinds every rule here speaks of. */
export type CapacityType = 'spot' | 'on-demand';

export const capacityTypes: readonly CapacityType[] = ['spot', 'on-demand'];

export function isCapacityType(value: unknown): value is CapacityType {
  return value === 'spot' || value === 'on-demand';
}

export function otherType(type: CapacityType): CapacityType {
  return type === 'spot' ? 'on-demand' : 'spot';
}
