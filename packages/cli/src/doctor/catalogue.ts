import { budgetsAreSingle, budgetsGive } from './checks/budgets.ts';
import { isServed, isTrusted, isValid } from './checks/certificate.ts';
import { isOn, isReadable, listsThoseThere, mayWrite, sharesLedger } from './checks/configuration.ts';
import { haveSpot, tellsOfDroughts } from './checks/droughts.ts';
import { hasReplicas, isAlone, isInstalled, isOfOneVersion } from './checks/installation.ts';
import { areManaged } from './checks/labels.ts';
import { hasLeader } from './checks/leader.ts';
import { areTyped, hasBothTypes } from './checks/nodes.ts';
import { areSteered } from './checks/pods.ts';
import { havePolicies, windowsMeet } from './checks/policy.ts';
import { answersInTime, asksInScope, failsOpen, hasEndpoint, isRegistered } from './checks/registration.ts';
import { hasRights } from './checks/rights.ts';
import { costIsOurs, templateAllows } from './checks/template.ts';
import { bySeverity, type Check, type Finding } from './finding.ts';
import type { Picture } from './picture/picture.ts';

/** Without an installation there is nothing else to say about one. */
const ofInstallation: readonly Check[] = [
  isAlone,
  isReadable,
  listsThoseThere,
  sharesLedger,
  isOn,
  mayWrite,
  isRegistered,
  failsOpen,
  answersInTime,
  asksInScope,
  hasEndpoint,
  isServed,
  isTrusted,
  isValid,
  hasReplicas,
  isOfOneVersion,
  hasLeader,
  tellsOfDroughts,
  hasRights,
];

const ofWorkloads: readonly Check[] = [
  hasBothTypes,
  areTyped,
  havePolicies,
  windowsMeet,
  areManaged,
  budgetsGive,
  budgetsAreSingle,
  costIsOurs,
  templateAllows,
  areSteered,
  haveSpot,
];

/** Everything that is wrong, the worst first. */
export function examine(picture: Picture): readonly Finding[] {
  const missing = isInstalled(picture);
  const checks = missing.length === 0 ? [...ofInstallation, ...ofWorkloads] : ofWorkloads;
  return [...missing, ...checks.flatMap((check) => check(picture))].toSorted(bySeverity);
}
