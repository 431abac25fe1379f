import { type ConfigurationProblem, nearest, type Setting } from '@spotalis/units';
import { environmentName } from './keys.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentNames {
  /** By full key, the variable that sets it. */
  readonly names: ReadonlyMap<string, string>;
  readonly problems: readonly ConfigurationProblem[];
}

/**
 * The kubelet describes every Service of the namespace to every container in the style of Docker links. A
 * Service named spotalis-webhook yields SPOTALIS_WEBHOOK_PORT=tcp://10.0.0.1:443, which is not a setting.
 */
const serviceLinkName = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const serviceLinkValue = /^(tcp|udp|sctp):\/\//;
const isServiceLink = (name: string, value: string): boolean =>
  serviceLinkName.test(name) || (name.endsWith('_PORT') && serviceLinkValue.test(value));

/** Knobs of the test suite share the prefix; a service started by a test inherits them. */
const testKnob = /^SPOTALIS_(PROPERTY|TEST|E2E|BENCH)_/;

/** Which variables are settings. Their texts are read by the formats. */
export function readEnvironment(
  settings: ReadonlyMap<string, Setting>,
  environment: Environment,
): EnvironmentNames {
  const keys = new Map([...settings.keys()].map((key) => [environmentName(key), key]));
  for (const [key, { aliases = [] }] of settings)
    for (const alias of aliases) keys.set(environmentName(alias), key);

  const names = new Map<string, string>();
  const problems: ConfigurationProblem[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('SPOTALIS_') || value === undefined) continue;
    if (isServiceLink(name, value) || testKnob.test(name)) continue;
    const key = keys.get(name);
    const twin = key === undefined ? undefined : names.get(key);
    if (key === undefined) {
      const meant = nearest(name, keys.keys(), { parts: false });
      const advice = meant === null ? 'no key has this name' : `did you mean ${meant}?`;
      problems.push({ key: name, message: `unknown environment variable; ${advice}` });
    } else if (twin === undefined) {
      names.set(key, name);
    } else {
      problems.push({
        key: name,
        message: `is the same setting as ${twin}; set only ${environmentName(key)}`,
      });
    }
  }
  return { names, problems };
}
