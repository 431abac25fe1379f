import { describe, expect, it } from '@jest/globals';
import { authorityOf, issueServing, readAuthorities, writeAuthorities } from './bundle.ts';
import { checkKeyPair } from './inspect.ts';

const hourMs = 3_600_000;
const notBeforeMs = Date.UTC(2026, 0, 1);
const validity = { notBeforeMs, notAfterMs: notBeforeMs + hourMs };
const make = (name = 'web.shop.svc') => issueServing([name], validity);

describe('a serving certificate', () => {
  it('is signed by an authority of its own, which ends with it', async () => {
    const [one, other] = await Promise.all([make(), make()]);
    const both = [other.authority, one.authority];
    expect(authorityOf(one.pair.cert, both)).toBe(one.authority);
    expect(authorityOf(one.pair.cert, [other.authority])).toBeUndefined();
    expect(one.authority.notAfterMs).toBe(validity.notAfterMs);
    expect(checkKeyPair(one.pair)).toMatchObject({ ...validity, dnsNames: ['web.shop.svc'] });
  });
});

describe('a bundle', () => {
  it('is read as it was written, each authority once', async () => {
    const authorities = (await Promise.all([make(), make()])).map(({ authority }) => authority);
    const text = writeAuthorities(authorities);
    expect(readAuthorities(text)).toEqual(authorities);
    expect(readAuthorities(text + text)).toEqual(authorities);
  });

  it('is what can be read of it', async () => {
    const { authority } = await make();
    const broken = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    expect(readAuthorities(`# ours\n${broken}${authority.cert}`)).toEqual([authority]);
    expect(readAuthorities('nothing')).toEqual([]);
  });
});
