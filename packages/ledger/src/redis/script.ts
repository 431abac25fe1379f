import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Of what the scripts keep in Redis. It is part of every key, so that two versions can serve side by side. */
export const layoutVersion = 1;

export interface Script {
  /** As it shows in metrics and in Redis' own script cache: `seePod:1`. */
  readonly name: string;
  readonly keys: number;
  readonly text: string;
  readonly sha: string;
}

const parts: Readonly<Record<string, string>> = {
  clock: readFileSync(new URL('./clock.lua', import.meta.url), 'utf8'),
  gate: readFileSync(new URL('./gate.lua', import.meta.url), 'utf8'),
  newest: readFileSync(new URL('./newest.lua', import.meta.url), 'utf8'),
  places: readFileSync(new URL('./places.lua', import.meta.url), 'utf8'),
  pod: readFileSync(new URL('./pod.lua', import.meta.url), 'utf8'),
  rank: readFileSync(new URL('./rank.lua', import.meta.url), 'utf8'),
  version: readFileSync(new URL('./version.lua', import.meta.url), 'utf8'),
};

function define(name: string, keys: number, source: string): Script {
  const versioned = `${name}:${layoutVersion}`;
  const body = source.replaceAll(/^--- @include "(\w+)"$/gm, (_line, part: string) => {
    const text = parts[part];
    if (text === undefined) throw new Error(`${name}.lua includes "${part}", which is not a part`);
    return text;
  });
  const text = `-- spotalis ${versioned}\n${body}`;
  return { name: versioned, keys, text, sha: createHash('sha1').update(text).digest('hex') };
}

export const scripts = {
  announcePlaces: define(
    'announcePlaces',
    8,
    readFileSync(new URL('./announcePlaces-8.lua', import.meta.url), 'utf8'),
  ),
  cancelPlace: define(
    'cancelPlace',
    8,
    readFileSync(new URL('./cancelPlace-8.lua', import.meta.url), 'utf8'),
  ),
  countPlaces: define(
    'countPlaces',
    3,
    readFileSync(new URL('./countPlaces-3.lua', import.meta.url), 'utf8'),
  ),
  decidePlace: define(
    'decidePlace',
    10,
    readFileSync(new URL('./decidePlace-10.lua', import.meta.url), 'utf8'),
  ),
  markList: define('markList', 1, readFileSync(new URL('./markList-1.lua', import.meta.url), 'utf8')),
  mergePods: define('mergePods', 8, readFileSync(new URL('./mergePods-8.lua', import.meta.url), 'utf8')),
  noteReplicas: define(
    'noteReplicas',
    8,
    readFileSync(new URL('./noteReplicas-8.lua', import.meta.url), 'utf8'),
  ),
  readStore: define('readStore', 2, readFileSync(new URL('./readStore-2.lua', import.meta.url), 'utf8')),
  releasePod: define('releasePod', 8, readFileSync(new URL('./releasePod-8.lua', import.meta.url), 'utf8')),
  rememberReplicaSet: define(
    'rememberReplicaSet',
    1,
    readFileSync(new URL('./rememberReplicaSet-1.lua', import.meta.url), 'utf8'),
  ),
  seePod: define('seePod', 8, readFileSync(new URL('./seePod-8.lua', import.meta.url), 'utf8')),
  steerOrdinal: define(
    'steerOrdinal',
    2,
    readFileSync(new URL('./steerOrdinal-2.lua', import.meta.url), 'utf8'),
  ),
  sweepPlaces: define(
    'sweepPlaces',
    8,
    readFileSync(new URL('./sweepPlaces-8.lua', import.meta.url), 'utf8'),
  ),
  writeBreaker: define(
    'writeBreaker',
    1,
    readFileSync(new URL('./writeBreaker-1.lua', import.meta.url), 'utf8'),
  ),
  writePool: define('writePool', 1, readFileSync(new URL('./writePool-1.lua', import.meta.url), 'utf8')),
  writeReach: define('writeReach', 1, readFileSync(new URL('./writeReach-1.lua', import.meta.url), 'utf8')),
} satisfies Record<string, Script>;
