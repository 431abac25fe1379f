import { decodePoint, encodePoint, MISSING, type SizedResource } from './point.ts';

/** No window has more points: longer windows have longer points. */
const MOST_POINTS = 2016;

/** The grid that the points of a policy lie on. */
export interface Grid {
  readonly pointMs: number;
  /** Points of a window. */
  readonly size: number;
}

/** Whole seconds, so that the grid is the same wherever it is computed. */
export function gridOf(windowMs: number, resolutionMs: number): Grid {
  const leastMs = Math.max(resolutionMs, windowMs / MOST_POINTS);
  const pointMs = Math.ceil(leastMs / 1000) * 1000;
  return { pointMs, size: Math.max(1, Math.round(windowMs / pointMs)) };
}

/** The number of the point that a time lies in. */
export const pointAt = ({ pointMs }: Grid, timeMs: number): number => Math.floor(timeMs / pointMs);

/** Bytes to write at an offset, as SETRANGE takes them. */
export interface RingPatch {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const VERSION = 1;
/** Version and size in 2 bytes each; seconds of a point, latest point and start of history in 4 bytes each. */
const HEADER_BYTES = 16;
const POINT_BYTES = 2;

/** The usage of one resource over a sliding window: an exact set of points, some of which may be missing. */
export class Ring {
  readonly #codes: Uint16Array;
  /** -1 before the first point. */
  #latest = -1;
  #since = -1;

  readonly resource: SizedResource;
  readonly grid: Grid;

  constructor(resource: SizedResource, grid: Grid) {
    this.resource = resource;
    this.grid = grid;
    this.#codes = new Uint16Array(grid.size).fill(MISSING);
  }

  /** Null before the first point. */
  get latest(): number | null {
    return this.#latest < 0 ? null : this.#latest;
  }

  /** The end of the newest point. */
  get latestMs(): number | null {
    return this.#latest < 0 ? null : (this.#latest + 1) * this.grid.pointMs;
  }

  /** Since when usage is known without a long gap; it may be further back than the window. */
  get historySinceMs(): number | null {
    return this.#since < 0 ? null : this.#since * this.grid.pointMs;
  }

  /** Points come in order, but for refills; what is older than the window is dropped. */
  put(point: number, amount: number): void {
    const { size } = this.grid;
    if (this.#latest >= 0 && point <= this.#latest - size) return;
    if (point > this.#latest) this.#advanceTo(point);
    this.#since = this.#since < 0 ? point : Math.min(this.#since, point);
    this.#codes[point % size] = encodePoint(this.resource, amount);
  }

  #advanceTo(point: number): void {
    const { size } = this.grid;
    const isFirst = this.#latest < 0;
    const skipped = isFirst ? 0 : Math.min(point - this.#latest - 1, size);
    for (let back = 0; back <= skipped; back++) this.#codes[(point - back) % size] = MISSING;
    // History counts from the end of a gap once more than half of the window is missing.
    if (skipped > 0 && this.#missing(point) > size / 2) this.#since = point;
    this.#latest = point;
  }

  /** Missing points before `point`, as far as history goes. */
  #missing(point: number): number {
    const { size } = this.grid;
    let missing = 0;
    for (let each = Math.max(point - size + 1, this.#since); each < point; each++) {
      if (this.#codes[each % size] === MISSING) missing++;
    }
    return missing;
  }

  /** The amounts of the last `size` points up to and with `point`, ascending. Missing ones are left out. */
  ascending(point: number, size = this.grid.size): Float64Array {
    const codes = new Uint16Array(Math.min(size, this.grid.size));
    let count = 0;
    const first = Math.max(point - codes.length + 1, this.#latest - this.grid.size + 1, 0);
    for (let each = first; each <= Math.min(point, this.#latest); each++) {
      const code = this.#codes[each % this.grid.size] ?? MISSING;
      if (code !== MISSING) codes[count++] = code;
    }
    // Codes are in the order of their amounts, and typed arrays sort by number.
    return Float64Array.from(codes.subarray(0, count).toSorted(), (code) => decodePoint(this.resource, code));
  }

  encode(): Uint8Array {
    const bytes = new Uint8Array(HEADER_BYTES + this.grid.size * POINT_BYTES);
    bytes.set(this.#header());
    const view = new DataView(bytes.buffer);
    for (const [slot, code] of this.#codes.entries()) view.setUint16(HEADER_BYTES + slot * POINT_BYTES, code);
    return bytes;
  }

  /** What changed since `point` was the latest: in front of what was stored then, it gives the same as `encode`. */
  patchesSince(point: number): readonly RingPatch[] {
    const { size } = this.grid;
    const first = Math.max(point + 1, this.#latest - size + 1, 0);
    const points = Array.from({ length: Math.max(0, this.#latest - first + 1) }, (_, index) => first + index);
    const wrap = points.findIndex((each, index) => index > 0 && each % size === 0);
    const runs = wrap < 0 ? [points] : [points.slice(0, wrap), points.slice(wrap)];
    return [
      { offset: 0, bytes: this.#header() },
      ...runs.filter(({ length }) => length > 0).map((run) => this.#patch(run)),
    ];
  }

  #patch(points: readonly number[]): RingPatch {
    const { size } = this.grid;
    const bytes = new Uint8Array(points.length * POINT_BYTES);
    const view = new DataView(bytes.buffer);
    for (const [index, point] of points.entries())
      view.setUint16(index * POINT_BYTES, this.#codes[point % size] ?? MISSING);
    return { offset: HEADER_BYTES + ((points[0] ?? 0) % size) * POINT_BYTES, bytes };
  }

  #header(): Uint8Array {
    const bytes = new Uint8Array(HEADER_BYTES);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, VERSION);
    view.setUint16(2, this.grid.size);
    view.setUint32(4, this.grid.pointMs / 1000);
    view.setUint32(8, this.#latest + 1);
    view.setUint32(12, this.#since + 1);
    return bytes;
  }

  /** Null where the bytes are of another grid, or of no ring. */
  static decode(resource: SizedResource, grid: Grid, bytes: Uint8Array): Ring | null {
    if (bytes.length !== HEADER_BYTES + grid.size * POINT_BYTES) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isOfGrid =
      view.getUint16(0) === VERSION &&
      view.getUint16(2) === grid.size &&
      view.getUint32(4) === grid.pointMs / 1000;
    const latest = view.getUint32(8) - 1;
    const since = view.getUint32(12) - 1;
    if (!isOfGrid || since > latest || since < 0 !== latest < 0) return null;
    const ring = new Ring(resource, grid);
    ring.#latest = latest;
    ring.#since = since;
    for (let slot = 0; slot < grid.size; slot++)
      ring.#codes[slot] = view.getUint16(HEADER_BYTES + slot * POINT_BYTES);
    return ring;
  }
}
