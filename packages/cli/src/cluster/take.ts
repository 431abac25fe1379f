import { readSettings, type Settings } from './configuration.ts';
import { fetchDroughts } from './droughts.ts';
import { fetchObjects } from './fetch.ts';
import { webhookState } from './registration.ts';
import type { Session } from './session.ts';
import { Survey } from './survey.ts';

/** Reads the cluster once. */
export async function takeSurvey(session: Session, signal: AbortSignal): Promise<Survey> {
  return surveyBy(await readSettings(session.client, session.configFile), session, signal);
}

export async function surveyBy(
  settings: Settings,
  { client, namespace }: Session,
  signal: AbortSignal,
): Promise<Survey> {
  const { home, onlyProven, nodeLabels } = settings;
  const listed = settings.values.scope.namespaces;
  const [objects, webhook, droughts] = await Promise.all([
    fetchObjects(client, { namespace, listed, home, onlyProven, nodeLabels, signal }),
    webhookState(client, settings),
    fetchDroughts(client),
  ]);
  return new Survey(objects, settings, webhook, droughts);
}
