import { type Bulletin, bulletinPlace, type DroughtReport, readBulletin } from '@spotalis/core';
import { type ApiClient, ApiError } from '@spotalis/kube';
import { configMaps } from './configuration.ts';

/** What the leading controllers tell of droughts: breakers are in Redis, where this program does not look. */
export interface DroughtNews {
  /** Somebody may tell, so that who is not named has no drought. */
  readonly isKnown: boolean;
  /** By UID of the workload. */
  readonly reports: ReadonlyMap<string, DroughtReport>;
  /** Placements for which several workloads found no capacity. */
  readonly openPools: ReadonlySet<string>;
  /** One of each installation that has told anything. */
  readonly told: readonly Pick<Bulletin, 'writer' | 'writtenAtMs'>[];
  /** No installation has a place where it would tell. */
  readonly isMissing: boolean;
  readonly unreadable: readonly { readonly object: string; readonly why: string }[];
  readonly notes: readonly string[];
}

export const noNews: DroughtNews = {
  isKnown: false,
  reports: new Map(),
  openPools: new Set(),
  told: [],
  isMissing: false,
  unreadable: [],
  notes: [],
};

const CONSEQUENCE = 'droughts are known by their substitutes only';

/** Never throws for what may not be read or is of another version. */
export async function fetchDroughts(client: ApiClient): Promise<DroughtNews> {
  const { name, key } = bulletinPlace;
  try {
    const { items } = await client.list(configMaps, { fieldSelector: `metadata.name=${name}` });
    return newsOf(
      items.map(({ metadata, data }) => ({
        object: `ConfigMap ${metadata.namespace ?? ''}/${name}`,
        text: data?.[key],
      })),
    );
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return { ...noNews, notes: [`configmaps may not be read: ${CONSEQUENCE}`] };
  }
}

export function newsOf(
  found: readonly { readonly object: string; readonly text: string | undefined }[],
): DroughtNews {
  const readings = found.map(({ object, text }) => ({ object, reading: readBulletin(text) }));
  const bulletins = readings.flatMap(({ reading }) => (reading.kind === 'read' ? [reading.bulletin] : []));
  const droughts = bulletins.flatMap((bulletin) => bulletin.droughts);
  const unreadable = readings.flatMap(({ object, reading }) =>
    reading.kind === 'unreadable' ? [{ object, why: reading.why }] : [],
  );
  const omitted = bulletins.reduce((sum, bulletin) => sum + bulletin.omitted, 0);
  return {
    isKnown: readings.some(({ reading }) => reading.kind !== 'unreadable') && omitted === 0,
    reports: new Map(droughts.map((report) => [report.uid, report])),
    openPools: new Set(droughts.filter(({ poolIsOpen }) => poolIsOpen).map(({ pool }) => pool)),
    told: bulletins.map(({ writer, writtenAtMs }) => ({ writer, writtenAtMs })),
    isMissing: found.length === 0,
    unreadable,
    notes: [
      ...unreadable.map(({ object, why }) => `${object} is not understood (${why}): ${CONSEQUENCE}`),
      ...(omitted > 0 ? [`${omitted} more droughts are known to the controller than it can tell`] : []),
    ],
  };
}
