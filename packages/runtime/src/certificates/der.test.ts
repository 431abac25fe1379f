import { describe, expect, it } from '@jest/globals';
import { objectId, octets, time, unsigned } from './der.ts';

const hex = (der: Buffer): string => der.toString('hex');

describe('DER', () => {
  it('writes lengths short below 128 and long from there', () => {
    expect(hex(octets(Buffer.alloc(127))).slice(0, 4)).toBe('047f');
    expect(hex(octets(Buffer.alloc(128))).slice(0, 6)).toBe('048180');
    expect(hex(octets(Buffer.alloc(300))).slice(0, 8)).toBe('0482012c');
  });

  it.each([
    ['00', '020100'],
    ['7f', '02017f'],
    ['80', '02020080'],
    ['000001', '020101'],
    ['0000ff', '020200ff'],
  ])('keeps the integer %s positive and minimal', (bytes, expected) => {
    expect(hex(unsigned(Buffer.from(bytes, 'hex')))).toBe(expected);
  });

  it('writes object identifiers in septets', () => {
    expect(hex(objectId('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302');
  });

  it('writes times the short way up to 2049 and the long way after', () => {
    expect(
      time(Date.UTC(2049, 11, 31, 23, 59, 59, 999))
        .toString()
        .slice(2),
    ).toBe('491231235959Z');
    expect(
      time(Date.UTC(2050, 0, 1))
        .toString()
        .slice(2),
    ).toBe('20500101000000Z');
  });
});
