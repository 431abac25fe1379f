/**
 * Rules that were tried and were wrong, or would be, each as an edit of the source that brings it in. `because` says
 * what goes wrong then. Every `find` has to occur exactly once, so that an edit of the source cannot silently disarm one.
 */
const next = 'packages/core/src/distribution/next.ts';
const slot = 'packages/core/src/distribution/slot.ts';
const target = 'packages/core/src/distribution/target.ts';
const memory = 'packages/ledger/src/memory/memory-ledger.ts';
const book = 'packages/ledger/src/memory/revision-book.ts';
const outage = 'packages/ledger/src/outage.ts';
const flight = 'packages/webhook/src/reserve/flight.ts';
const cluster = 'packages/core/src/cluster/';
const disruption = 'packages/core/src/disruption/';
const rebalance = 'packages/core/src/rebalance/';
const observe = 'packages/controller/src/observe/';
const bypass = 'packages/controller/src/kernel/disruption/bypass.ts';
const breaker = 'packages/core/src/drought/breaker.ts';
const admit = 'packages/core/src/capacity/admit.ts';
const rotation = 'packages/webhook/src/certificates/rotation.ts';
const decideScript = 'packages/ledger/src/redis/decidePlace-10.lua';
const seeScript = 'packages/ledger/src/redis/seePod-8.lua';

const targetTests = 'packages/core/src/distribution/target';
const ledger = 'packages/ledger/src/';

export const mutations = [
  {
    name: 'the slot decides the type',
    because: 'a pod lost or a policy changed is never made good',
    tests: ledger,
    edits: [
      {
        file: next,
        find: "return spot + 1 <= target && onDemand >= policy.minOnDemand ? 'spot' : 'on-demand';",
        replace: `const n = spot + onDemand + untyped;
  return target > targetSpot(policy, n) ? 'spot' : 'on-demand';`,
      },
    ],
  },
  {
    name: 'the share in floating point',
    because: 'there is one spot pod too many for 290 pairs of size and percentage',
    tests: targetTests,
    edits: [
      {
        file: target,
        find: 'floor((replicas * policy.spotPercentage + 99) / 100)',
        replace: 'Math.ceil(replicas * (policy.spotPercentage / 100))',
      },
    ],
  },
  {
    name: 'no floor in the target',
    because: 'fewer pods than asked for stay on on-demand',
    tests: targetTests,
    edits: [
      { file: target, find: 'min(share, replicas - policy.minOnDemand)', replace: 'min(share, replicas)' },
    ],
  },
  {
    name: 'no deletion cost',
    because: 'scale-downs take pods of any type',
    tests: ledger,
    edits: [{ file: slot, find: 'return 0 - position(policy, type, rank);', replace: 'return 0;' }],
  },
  {
    name: 'deletion cost by age, without ranks of the type',
    because: 'after a loss the order of deletion no longer fits the target',
    tests: ledger,
    edits: [{ file: slot, find: 'return 0 - position(policy, type, rank);', replace: 'return 0 - rank;' }],
  },
  {
    name: 'aim at the share of the desired replicas',
    because: 'spot comes first and on-demand last, and the floor is open until the end',
    tests: ledger,
    edits: [
      {
        file: book,
        find: 'typeForNext(policy, this.#podCounts())',
        replace:
          'typeForNext(policy, { spot: this.#podCounts().spot, onDemand: Math.max(0, (this.#replicas?.replicas ?? 0) - this.#podCounts().spot - 1) })',
      },
    ],
  },
  {
    name: 'what was known outlives a restored etcd',
    because:
      'its resourceVersions are the greater ones for hours, and the count of then keeps the fence open',
    tests: `${ledger}memory`,
    edits: [{ file: book, find: 'if (wentBack) this.#beginAnew();', replace: '' }],
  },
  {
    name: 'a verified count must be the later one',
    because: 'once etcd was restored and has caught up, a ledger keeps the count of before',
    tests: `${ledger}memory`,
    edits: [
      {
        file: book,
        find: "if (known !== undefined && knowledge.kind === 'verified') {",
        replace: "if (known !== undefined && knowledge.kind === 'fresh') {",
      },
    ],
  },
  {
    name: 'pods of an unknown type do not count',
    because: 'the ledger looks full too late, and decisions on what is gone pass',
    tests: ledger,
    edits: [
      {
        file: book,
        find: 'const full = this.#entries.size >= current.replicas;',
        replace: 'const full = this.#entries.size - this.#podCounts().untyped >= current.replicas;',
      },
    ],
  },
  {
    name: 'pods of an unknown type count for the floor',
    because: 'all of them may turn out to be on spot',
    tests: 'packages/core/src/distribution/next',
    edits: [
      {
        file: next,
        find: 'spot + 1 <= target && onDemand >= policy.minOnDemand',
        replace: 'spot + 1 <= target',
      },
    ],
  },
  {
    name: 'ghosts dropped on stale replicas',
    because: 'pods that exist lose their places in a burst',
    tests: ledger,
    edits: [
      {
        file: book,
        find: `    if (knowledge.kind === 'verified') {
      if (!dryRun) this.#dropGhosts(current.replicas);
    } else {`,
        replace: `    if (!dryRun) this.#dropGhosts(current.replicas);
    if (knowledge.kind !== 'verified') {`,
      },
    ],
  },
  {
    name: 'young ghosts kept',
    because: 'what a quota rejected counts on',
    tests: ledger,
    edits: [
      {
        file: book,
        find: "        if (entry.state !== 'pending') continue;",
        replace:
          "        if (entry.state !== 'pending' || entry.deadlineUs > this.#lastListUs + 25_000_000) continue;",
      },
    ],
  },
  {
    name: 'reservations expire silently',
    because: 'with no controller, pods that exist are forgotten',
    tests: ledger,
    edits: [
      {
        file: book,
        find: "for (const entry of this.#entries.values()) {\n      // Expiry never drops silently: whether the pod exists is for a LIST to say.\n      if (entry.state === 'pending' && entry.deadlineUs < nowUs) return 'expired-pending';",
        replace:
          "for (const [token, entry] of this.#entries) {\n      if (entry.state === 'pending' && entry.deadlineUs < nowUs) this.#entries.delete(token);",
      },
    ],
  },
  {
    name: 'no list after a release was seen',
    because: 'other releases, not seen yet, still count',
    tests: ledger,
    edits: [
      { file: book, find: "if (this.#lastReleaseUs > lastListUs) return 'release-seen';", replace: '' },
    ],
  },
  {
    name: 'no list when the ledger is full',
    because: 'pods that ended unseen still count',
    tests: ledger,
    edits: [
      {
        file: book,
        find: 'const full = this.#entries.size >= current.replicas;',
        replace: 'const full = false;',
      },
    ],
  },
  {
    name: 'no list after a reconnect',
    because: 'what a failover lost is missing',
    tests: ledger,
    edits: [{ file: book, find: "    if (dirty) return 'dirty';\n", replace: '' }],
  },
  {
    name: "the reservation's own type trusted",
    because: 'a replay that answered otherwise is repaired for ever',
    tests: ledger,
    edits: [
      {
        file: book,
        find: 'this.#putLive(pod, pod.resourceVersion);',
        replace: 'this.#putLive({ ...pod, type: entry?.type ?? pod.type }, pod.resourceVersion);',
      },
    ],
  },
  {
    name: 'a pod confirmed only if its reservation exists',
    because: 'what a failover lost never comes back',
    tests: ledger,
    edits: [
      {
        file: book,
        find: "    if (this.#isGone(pod.token, nowUs)) return 'gone';",
        replace: "    if (this.#isGone(pod.token, nowUs) || !this.#entries.has(pod.token)) return 'gone';",
      },
    ],
  },
  {
    name: 'the count rule in an outage',
    because: 'every replica repairs the whole deficit',
    tests: `${ledger}outage`,
    edits: [
      {
        file: outage,
        find: 'phase < share ?',
        replace: 'counts.spot + 1 <= targetSpot(policy, existing + 1) ?',
      },
    ],
  },
  {
    name: 'what was decided alone is kept to oneself',
    because: 'the next decision counts too few, unless all wait for a LIST',
    tests: ledger,
    edits: [
      {
        file: book,
        find: "this.#entries.set(token, { state: 'pending', type, rank, substitute, deadlineUs, by });",
        replace: '',
      },
    ],
  },
  {
    name: 'what one process announces undoes what another decided',
    because: 'a review sent twice leaves the ledger with the answer that the pod did not get',
    tests: ledger,
    edits: [{ file: book, find: 'entry.by !== by', replace: 'false' }],
  },
  {
    name: 'a list joined that has begun already',
    because: 'a release between its answer and the question is missed',
    tests: 'packages/webhook/src/reserve/flight',
    edits: [
      {
        file: flight,
        find: 'lane.waiting ??= this.#line(key, lane);',
        replace:
          'lane.waiting ??= { needs: [], result: this.#run(key, { waiting: undefined }, [need]), begin: () => undefined };',
      },
    ],
  },
  {
    name: 'a list from a cache',
    because: 'it shows the pods as they were, and a burst counts on it',
    tests: 'packages/webhook/src/reserve/reads',
    edits: [
      {
        file: 'packages/webhook/src/reserve/reads.ts',
        find: 'limit: PAGE_LIMIT,',
        replace: "limit: PAGE_LIMIT,\n      resourceVersion: '0',",
      },
    ],
  },
  {
    name: 'the deficit of all revisions together',
    because: 'the new revision makes up for the old one, and is left with it when the old one is gone',
    tests: 'packages/webhook/src/app',
    edits: [
      {
        file: memory,
        find: '#book({ replicaSetUid }: Revision,',
        replace: '#book({ workloadUid: replicaSetUid }: Revision,',
      },
    ],
  },
  {
    name: 'one label of the two opts in',
    because: 'workloads are touched that nobody asked for',
    tests: 'packages/core/src/policy/managed',
    edits: [
      {
        file: 'packages/core/src/policy/managed.ts',
        find: 'if (namespaceEnabled && workloadEnabled) return yes;',
        replace: 'if (namespaceEnabled || workloadEnabled) return yes;',
      },
    ],
  },
  {
    name: 'no renumbering',
    because: 'after a change of the policy scale-downs take pods of the wrong type',
    tests: `${rebalance}decide`,
    edits: [
      {
        file: `${rebalance}decide.ts`,
        find: 'const costs = renumber(snapshot, members, standing, nowMs);',
        replace: 'const costs = null;',
      },
    ],
  },
  {
    name: 'renumbering looks at costs alone',
    because:
      'a pod keeps the rank of another cost, and growth after a change of the policy takes that rank again',
    tests: `${rebalance}repair`,
    edits: [
      {
        file: `${rebalance}renumber.ts`,
        find: '({ rank, cost }) => rank === null || cost !== deletionCost(numbers, type, rank) || !free.delete(rank),',
        replace:
          '({ cost }) => !free.delete([...free].find((rank) => cost === deletionCost(numbers, type, rank)) ?? -1),',
      },
    ],
  },
  {
    name: 'a StatefulSet keeps its floor by count alone',
    because: 'a scale-down to its first ordinals finds them on spot',
    tests: `${rebalance}repair`,
    edits: [
      {
        file: `${rebalance}ordinals.ts`,
        find: "return member.type === 'spot' && index !== null && index < minOnDemand;",
        replace: "return member.type === 'spot' && index !== null && index < 0 * minOnDemand;",
      },
    ],
  },
  {
    name: 'moves amid a rollout',
    because: 'pods are evicted that the rollout is about to replace',
    tests: `${rebalance}gate`,
    edits: [
      {
        file: `${rebalance}gate.ts`,
        find: '  generationBehind,\n  rolloutInProgress,\n];',
        replace: '  generationBehind,\n];',
      },
    ],
  },
  {
    name: 'moves without the ledger',
    because: 'a replacement gets any type, and is moved again',
    tests: `${rebalance}gate`,
    edits: [{ file: `${rebalance}gate.ts`, find: '= [\n  ledgerUnreachable,\n', replace: '= [\n' }],
  },
  {
    name: 'percentages of a PDB rounded down',
    because: 'one pod more goes than the application allows',
    tests: `${disruption}pdb`,
    edits: [
      {
        file: `${disruption}pdb.ts`,
        find: "resolveFraction(minAvailable, expectedPods, 'up')",
        replace: "resolveFraction(minAvailable, expectedPods, 'down')",
      },
    ],
  },
  {
    name: 'an unready pod is free for any PDB',
    because: 'evictions are sent that the API server refuses for ever',
    tests: `${disruption}pdb`,
    edits: [
      {
        file: `${disruption}pdb.ts`,
        find: 'if (!pod.ready && needed > 0 && healthy >= needed)',
        replace: 'if (!pod.ready)',
      },
    ],
  },
  {
    name: 'the last available pod may go',
    because: 'a workload without a PDB loses one pod more than its own strategy allows',
    tests: `${cluster}availability`,
    edits: [
      {
        file: `${cluster}availability.ts`,
        find: 'sparesOne: available - 1 >= needed',
        replace: 'sparesOne: available >= needed',
      },
    ],
  },
  {
    name: "one move more than the minute's budget",
    because: 'the limit of the whole cluster is exceeded',
    tests: 'packages/core/src/disruption/arbitrate',
    edits: [
      {
        file: 'packages/core/src/disruption/register.ts',
        find: 'return this.minute.left > 0 ? null',
        replace: 'return this.minute.left >= 0 ? null',
      },
    ],
  },
  {
    name: 'two modules disturb one workload',
    because: 'a workload loses two pods at a time',
    tests: 'packages/core/src/disruption/arbitrate',
    edits: [
      {
        file: 'packages/core/src/disruption/arbitrate.ts',
        find: 'use.busy(intent.workload.uid) ?? (isExempt',
        replace: '(isExempt',
      },
    ],
  },
  {
    name: 'one tenant takes all turns',
    because: 'the workloads of the others wait for as long as it churns',
    tests: 'packages/core/src/disruption/arbitrate',
    edits: [
      {
        file: 'packages/core/src/disruption/turn.ts',
        find: 'return a.load - b.load || (',
        replace: 'return (',
      },
    ],
  },
  {
    name: 'a grant spends its budget only when it is confirmed',
    because: 'all that are granted while a LIST is under way exceed the budget together',
    tests: 'packages/controller/src/kernel/disruption/executor',
    edits: [
      {
        file: 'packages/controller/src/kernel/disruption/register.ts',
        find: 'underWay: new Map([...this.#underWay].map(',
        replace: "underWay: new Map([...this.#underWay].filter(([, { kind }]) => kind !== 'reserved').map(",
      },
    ],
  },
  {
    name: 'what a fresh look puts in place of a granted pod is not granted',
    because: 'two pods leave one node at a time',
    tests: 'packages/controller/src/kernel/disruption/executor',
    edits: [
      {
        file: 'packages/controller/src/kernel/disruption/executor.ts',
        find: 'const instead = arbiter.askToEvict(intent);',
        replace: 'const instead = arbiter.askToEvict(asked);',
      },
    ],
  },
  {
    name: 'a new leader begins with a fresh budget',
    because: 'two leaders together move twice as much within a minute',
    tests: 'packages/controller/src/kernel/disruption/register',
    edits: [
      {
        file: 'packages/controller/src/kernel/disruption/register.ts',
        find: 'begun: [...inherited, ...this.#begun],',
        replace: 'begun: this.#begun,',
      },
    ],
  },
  {
    name: 'a ledger is trusted though a release was lost',
    because: 'a place stays taken for a pod that is gone, and its successor gets the wrong type',
    tests: `${observe}resync`,
    edits: [{ file: `${observe}agreement.ts`, find: 'return missing.size === 0;', replace: 'return true;' }],
  },
  {
    name: 'a ledger is trusted though a confirmation was lost',
    because: 'a reservation that nobody confirms is dropped with its pod still there',
    tests: `${observe}resync`,
    edits: [
      {
        file: `${observe}agreement.ts`,
        find: "entry?.state !== 'live' || ",
        replace: 'entry === undefined || ',
      },
    ],
  },
  {
    name: 'a ledger is trusted though the watch is dead',
    because: 'it is compared with pods as they were',
    tests: `${observe}resync`,
    edits: [{ file: `${observe}agreement.ts`, find: 'if (!isFollowed()) return false;', replace: '' }],
  },
  {
    name: 'what the ledger was told since is trusted',
    because: 'an error of the telling itself is found up to twenty minutes later',
    tests: `${observe}resync`,
    edits: [
      {
        file: `${observe}resync.ts`,
        find: '  touched(uid: string): void {\n    this.#trusted.delete(uid);',
        replace: '  touched(_uid: string): void {',
      },
    ],
  },
  {
    name: 'four pods past the webhook',
    because: 'one eviction more than promised is made while nobody steers its replacement',
    tests: 'packages/controller/src/kernel/disruption/bypass',
    edits: [{ file: bypass, find: 'const TOLERATED = 3;', replace: 'const TOLERATED = 4;' }],
  },
  {
    name: 'a pod that comes through opens the gate at once',
    because: 'behind two API servers, of which one reaches the webhook, evictions never stop',
    tests: 'packages/controller/src/kernel/disruption/bypass',
    edits: [{ file: bypass, find: 'const SIGN_AFTER_MS = 30_000;', replace: 'const SIGN_AFTER_MS = 0;' }],
  },
  {
    name: 'two moves of one workload at once',
    because: 'the second rests on counts that the first is about to change',
    tests: `${rebalance}(gate|law)`,
    edits: [
      { file: `${rebalance}gate.ts`, find: 'budgets.workload > 0 ?', replace: 'budgets.workload > 1 ?' },
    ],
  },
  {
    name: 'a pod that must not be disrupted may go',
    because: 'what its owner asked of everybody is not heeded',
    tests: `${rebalance}candidate`,
    edits: [
      {
        file: `${rebalance}protection.ts`,
        find: "if (text === 'true') return lasting('DoNotDisrupt');",
        replace: '',
      },
    ],
  },
  {
    name: 'an eviction without the UID',
    because: 'a pod of the same name that came meanwhile is evicted instead',
    tests: 'packages/kube/src/eviction',
    edits: [
      {
        file: 'packages/kube/src/eviction.ts',
        find: 'preconditions: { uid, resourceVersion',
        replace: 'preconditions: { resourceVersion',
      },
    ],
  },
  {
    name: 'no cooldown after a move',
    because: 'a workload whose replacement came up on the wrong type is moved again and again',
    tests: `(${rebalance}gate|${disruption}cooldown)`,
    edits: [
      {
        file: `${rebalance}gate.ts`,
        find: 'moveInFlight, cooldown, windowClosed]',
        replace: 'moveInFlight, windowClosed]',
      },
    ],
  },
  {
    name: 'a window is open at its very end',
    because: 'two windows that follow each other are one moment too long',
    tests: `${disruption}window`,
    edits: [
      {
        file: `${disruption}window.ts`,
        find: 'openingAfter(window, nowMs - Math.min(window.durationMs, LONGEST_LOOK_BACK_MS))',
        replace: 'openingAfter(window, nowMs - Math.min(window.durationMs, LONGEST_LOOK_BACK_MS) - 1)',
      },
    ],
  },
  {
    name: 'a failed attempt keeps its back-off',
    because: 'a long drought is tried as often as a short one, and each attempt costs a pod its time',
    tests: 'packages/core/src/drought/breaker',
    edits: [
      {
        file: breaker,
        find: 'const next = longer(backoffMs, backoff);\n',
        replace: 'const next = backoffMs;\n',
      },
    ],
  },
  {
    name: 'a second permit while a pod is on its way',
    because: 'a whole scale-up is sent to capacity that one pod was to try out',
    tests: 'packages/core/src/drought/breaker',
    edits: [
      {
        file: breaker,
        find: '  if (pending > 0 && rearmAtMs > nowMs) return still(breaker, rearmAtMs, permits);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'a pod that fits no known spot node never waits for capacity',
    because: 'a pool that has lost its spot nodes for a day keeps its pods waiting for ever',
    tests: 'packages/core/src/drought/bridge',
    edits: [
      {
        file: 'packages/core/src/drought/stuck.ts',
        find: "return fits('spot') || fits('on-demand') ?",
        replace: "return fits('spot') ?",
      },
    ],
  },
  {
    name: 'a permit outlives its attempt',
    because: 'the end of one drought is taken for the end of the next',
    tests: 'packages/ledger/src/memory/memory-ledger',
    edits: [
      {
        file: 'packages/ledger/src/memory/breaker-book.ts',
        find: 'if (next.state !== this.#breaker.state) {',
        replace: 'if (next.state === undefined) {',
      },
    ],
  },
  {
    name: 'moves that another webhook undoes go on',
    because: 'every half hour a pod is evicted for nothing',
    tests: `${rebalance}repair`,
    edits: [
      {
        file: `${rebalance}overridden.ts`,
        find: 'history.failures < MOST_IN_VAIN',
        replace: 'history.failures < 1_000',
      },
    ],
  },
  {
    name: 'a pod that crashes for ever counts as a move of the last leader',
    because: 'after each change of the leader nothing is moved for as long as a move may last',
    tests: 'packages/controller/src/lead/succession',
    edits: [
      {
        file: 'packages/controller/src/kernel/disruption/register.ts',
        find: 'NEGATIVE_INFINITY : createdAtMs + moveTimeoutMs',
        replace: 'NEGATIVE_INFINITY : Number.POSITIVE_INFINITY',
      },
    ],
  },
  {
    name: 'labels of a type beside the terms of a pod instead of in them',
    because: 'terms are alternatives: the pod may go where it was, on either type',
    tests: 'packages/core/src/capacity/admit',
    edits: [
      {
        file: admit,
        find: 'return terms.flatMap((term) => {',
        replace:
          'return [...terms, ...alternatives.map((matchExpressions) => ({ matchExpressions }))].flatMap((term) => {',
      },
    ],
  },
  {
    name: 'a term that selects nothing is narrowed',
    because: 'with our labels in it, it selects every node of the type',
    tests: 'packages/core/src/capacity/admit',
    edits: [{ file: admit, find: 'if (selectsNothing(term)) return [term];', replace: '' }],
  },
  {
    name: 'keys are no JSON pointers',
    because: 'every key has a slash, and the API server refuses the whole patch',
    tests: 'packages/core/src/capacity/',
    edits: [
      {
        file: 'packages/core/src/capacity/patch.ts',
        find: ".replaceAll('/', '~1')",
        replace: '',
      },
    ],
  },
  {
    name: 'a certificate is served as soon as it is registered',
    because: 'API servers that have not noticed yet cannot verify it',
    tests: 'packages/webhook/src/certificates/rotation',
    edits: [{ file: rotation, find: 'return settleMs - trustedForMs;', replace: 'return 0;' }],
  },
  {
    name: 'registered authorities are dropped',
    because: 'a certificate that another replica still serves cannot be verified',
    tests: 'packages/webhook/src/certificates/rotation',
    edits: [{ file: rotation, find: '    ...(look.registered ?? []),\n', replace: '' }],
  },
  {
    name: 'a plan that does not see the move under way',
    because:
      'it takes the pod that is missing for one to be created, and begins before the replacement is Ready',
    tests: 'packages/core/src/preview/plan',
    edits: [
      {
        file: 'packages/core/src/preview/plan.ts',
        find: 'const isWhole = !isMoving && members.length >= snapshot.workload.replicas;',
        replace: 'const isWhole = true;',
      },
    ],
  },
  {
    name: 'new pods on spot in a drought that was told of',
    because: 'a plan promises pods on spot that admission gives substitutes',
    tests: 'packages/core/src/preview/plan',
    edits: [
      {
        file: 'packages/core/src/preview/stage.ts',
        find: "const substitutes = wanted === 'spot' && cause === 'scaled' && isDry(snapshot);",
        replace: 'const substitutes = false;',
      },
    ],
  },
  {
    name: 'droughts told at every turn',
    because: 'the API server is written to though nothing changed',
    tests: 'packages/controller/src/report/bulletin',
    edits: [
      {
        file: 'packages/controller/src/report/bulletin.ts',
        find: 'if (isDeepStrictEqual(droughts, this.#written) || !mayWrite()) return;',
        replace: 'if (!mayWrite()) return;',
      },
    ],
  },
  {
    name: 'Redis: the slot decides the type',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        file: decideScript,
        find: 'if spot + 1 <= math.max(0, math.min(share, n - floor)) and ondemand - untyped >= floor then',
        replace: `local before = math.floor(((n - 1) * tonumber(ARGV[3]) + 99) / 100)
  if math.max(0, math.min(share, n - floor)) > math.max(0, math.min(before, n - 1 - floor)) then`,
      },
    ],
  },
  {
    name: 'Redis: ghosts dropped on stale replicas',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        file: decideScript,
        find: "if ARGV[6] == 'verified' then\n",
        replace: 'do\n',
      },
      {
        file: decideScript,
        find: "else\n  local dirty = ARGV[9] == '1'",
        replace: "end\nif ARGV[6] ~= 'verified' then\n  local dirty = ARGV[9] == '1'",
      },
    ],
  },
  {
    name: 'Redis: reservations expire silently',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        file: decideScript,
        find: "    return needlist('expired-pending')\n",
        replace: '    drop(oldest[1], read(oldest[1]))\n    spot, ondemand = counts()\n',
      },
    ],
  },
  {
    name: 'Redis: no list after a release was seen',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [{ file: decideScript, find: 'if release > list then', replace: 'if false then' }],
  },
  {
    name: "Redis: the reservation's own type trusted",
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        file: seeScript,
        find: 'local entry = { state =',
        replace: `if before then
  ARGV[2] = before.type
end
local entry = { state =`,
      },
    ],
  },
  {
    name: 'Redis: a pod confirmed only if its reservation exists',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        file: seeScript,
        find: "if before and before.state == 'L'",
        replace: "if not before then\n  return -1\nend\nif before and before.state == 'L'",
      },
    ],
  },
];
