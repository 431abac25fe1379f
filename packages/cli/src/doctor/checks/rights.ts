import type { Check, Finding } from '../finding.ts';

/** One finding for each account, which lists what it lacks. */
export const hasRights: Check = ({ installation: { rights } }) =>
  [...new Set(rights.map(({ account }) => account))].map((account): Finding => {
    const lacking = rights
      .filter((right) => right.account === account)
      .map(({ what, namespace }) => (namespace === undefined ? what : `${what} in ${namespace}`));
    return {
      id: 'rights-missing',
      severity: 'error',
      object: `ServiceAccount ${account}`,
      what: `it may not ${lacking.join(', ')}`,
      why: 'the service does this, is refused, and stops or works on old knowledge',
      remedy: 'apply the roles of the chart anew (helm upgrade): docs/install.md, "What it may do"',
    };
  });
