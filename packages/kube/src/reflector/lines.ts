const NEWLINE = 0x0a;

/**
 * Cuts chunks of bytes into lines. Each line is decoded once, when it is whole; what follows the last newline
 * of a stream was cut off and is never shown.
 */
export class LineCutter {
  /** Pieces of the line that is not finished yet. Joined once, however many chunks it came in. */
  private pieces: Buffer[] = [];

  *push(chunk: Uint8Array): Generator<string> {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, start)) {
      yield this.finish(buffer.subarray(start, end));
      start = end + 1;
    }
    if (start < buffer.length) {
      this.pieces.push(buffer.subarray(start));
    }
  }

  private finish(last: Buffer): string {
    if (this.pieces.length === 0) {
      return last.toString('utf8');
    }
    const line = Buffer.concat([...this.pieces, last]).toString('utf8');
    this.pieces = [];
    return line;
  }
}
