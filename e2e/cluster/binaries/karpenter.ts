import { findOwnProgram, type OwnProgramFound } from './own.ts';

/** Karpenter with its KWOK provider; or why it cannot be had here. */
export const findKarpenter = (
  report: (line: string) => void,
): Promise<OwnProgramFound | { readonly missing: string }> => findOwnProgram('karpenter', report);
