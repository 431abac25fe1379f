/**
 * Rules that were tried and were wrong, or would be, each as edits of the source that bring it in. `because` says what
 * goes wrong then. An edit finds its place as scripts/anchors.mjs says, so code may move and be formatted anew; keep
 * `find` as short as leads to one place only. `tests` is a pattern for the paths of the unit tests that have to notice,
 * or `redis`; without it they are the ones beside the source of the first edit.
 */
const ledger = 'ledger/src/';

export const mutations = [
  {
    name: 'the slot decides the type',
    because: 'a pod lost or a policy changed is never made good',
    tests: ledger,
    edits: [
      {
        in: 'typeForNext',
        find: 'spot + 1 <= target && onDemand >= policy.minOnDemand',
        replace: 'target > targetSpot(policy, spot + onDemand + untyped)',
      },
    ],
  },
  {
    name: 'the share in floating point',
    because: 'there is one spot pod too many for 290 pairs of size and percentage',
    edits: [
      {
        in: 'targetSpot',
        find: 'floor((replicas * policy.spotPercentage + 99) / 100)',
        replace: 'Math.ceil(replicas * (policy.spotPercentage / 100))',
      },
    ],
  },
  {
    name: 'no floor in the target',
    because: 'fewer pods than asked for stay on on-demand',
    edits: [{ in: 'targetSpot', find: 'replicas - policy.minOnDemand', replace: 'replicas' }],
  },
  {
    name: 'no deletion cost',
    because: 'scale-downs take pods of any type',
    tests: ledger,
    edits: [{ in: 'deletionCost', find: 'position(policy, type, rank)', replace: '0' }],
  },
  {
    name: 'deletion cost by age, without ranks of the type',
    because: 'after a loss the order of deletion no longer fits the target',
    tests: ledger,
    edits: [{ in: 'deletionCost', find: 'position(policy, type, rank)', replace: 'rank' }],
  },
  {
    name: 'aim at the share of the desired replicas',
    because: 'spot comes first and on-demand last, and the floor is open until the end',
    tests: ledger,
    edits: [
      {
        in: '#nextPlace',
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
    tests: 'ledger/src/memory',
    edits: [{ in: 'merge', find: 'if (wentBack)', replace: 'if (false)' }],
  },
  {
    name: 'a verified count must be the later one',
    because: 'once etcd was restored and has caught up, a ledger keeps the count of before',
    tests: 'ledger/src/memory',
    edits: [
      { in: '#currentCount', find: "knowledge.kind === 'verified'", replace: "knowledge.kind === 'fresh'" },
    ],
  },
  {
    name: 'pods of an unknown type do not count',
    because: 'the ledger looks full too late, and decisions on what is gone pass',
    tests: ledger,
    edits: [
      {
        in: 'decide',
        find: 'this.#entries.size >= current.replicas',
        replace: 'this.#entries.size - this.#podCounts().untyped >= current.replicas',
      },
    ],
  },
  {
    name: 'pods of an unknown type count for the floor',
    because: 'all of them may turn out to be on spot',
    edits: [{ in: 'typeForNext', find: '&& onDemand >= policy.minOnDemand', replace: '' }],
  },
  {
    name: 'ghosts dropped on stale replicas',
    because: 'pods that exist lose their places in a burst',
    tests: ledger,
    edits: [
      {
        in: 'decide',
        find: 'let { seeded, lastListUs } =',
        replace: `if (!dryRun) this.#dropGhosts(current.replicas);
      let { seeded, lastListUs } =`,
      },
    ],
  },
  {
    name: 'young ghosts kept',
    because: 'what a quota rejected counts on',
    tests: ledger,
    edits: [
      {
        in: '#dropGhosts',
        find: "entry.state !== 'pending'",
        replace: "entry.state !== 'pending' || entry.deadlineUs > this.#lastListUs + 25_000_000",
      },
    ],
  },
  {
    name: 'reservations expire silently',
    because: 'with no controller, pods that exist are forgotten',
    tests: ledger,
    edits: [
      {
        in: '#whyList',
        find: 'const entry of this.#entries.values()',
        replace: 'const [token, entry] of this.#entries',
      },
      { in: '#whyList', find: "return 'expired-pending'", replace: 'this.#entries.delete(token)' },
    ],
  },
  {
    name: 'no list after a release was seen',
    because: 'other releases, not seen yet, still count',
    tests: ledger,
    edits: [{ in: '#whyList', find: 'this.#lastReleaseUs > lastListUs', replace: 'false' }],
  },
  {
    name: 'no list when the ledger is full',
    because: 'pods that ended unseen still count',
    tests: ledger,
    edits: [{ in: 'decide', find: 'this.#entries.size >= current.replicas', replace: 'false' }],
  },
  {
    name: 'no list after a reconnect',
    because: 'what a failover lost is missing',
    tests: ledger,
    edits: [{ in: '#whyList', find: 'if (dirty)', replace: 'if (false)' }],
  },
  {
    name: "the reservation's own type trusted",
    because: 'a replay that answered otherwise is repaired for ever',
    tests: ledger,
    edits: [
      {
        in: 'seen',
        find: 'this.#putLive(pod,',
        replace: 'this.#putLive({ ...pod, type: entry?.type ?? pod.type },',
      },
    ],
  },
  {
    name: 'a pod confirmed only if its reservation exists',
    because: 'what a failover lost never comes back',
    tests: ledger,
    edits: [
      {
        in: 'seen',
        find: 'this.#isGone(pod.token, nowUs)',
        replace: 'this.#isGone(pod.token, nowUs) || !this.#entries.has(pod.token)',
      },
    ],
  },
  {
    name: 'the count rule in an outage',
    because: 'every replica repairs the whole deficit',
    edits: [
      {
        in: 'decideAlone',
        find: 'phase < share',
        replace: 'counts.spot + 1 <= targetSpot(policy, existing + 1)',
      },
    ],
  },
  {
    name: 'what was decided alone is kept to oneself',
    because: 'the next decision counts too few, unless all wait for a LIST',
    tests: ledger,
    edits: [{ in: 'announce', find: 'this.#entries.set', replace: 'new Map().set' }],
  },
  {
    name: 'what one process announces undoes what another decided',
    because: 'a review sent twice leaves the ledger with the answer that the pod did not get',
    tests: ledger,
    edits: [{ in: 'announce', find: 'entry.by !== by', replace: 'false' }],
  },
  {
    name: 'a list joined that has begun already',
    because: 'a release between its answer and the question is missed',
    edits: [
      {
        in: 'ask',
        find: 'this.#enqueue(key, queue)',
        replace:
          '{ needs: [], result: this.#run(key, { waiting: undefined }, [need]), begin: () => undefined }',
      },
    ],
  },
  {
    name: 'a list from a cache',
    because: 'it shows the pods as they were, and a burst counts on it',
    edits: [{ in: '#each', find: 'limit: PAGE_LIMIT', replace: "limit: PAGE_LIMIT, resourceVersion: '0'" }],
  },
  {
    name: 'a step is cut off when its time is over',
    because: 'what it decides alone, when the ledger is late, does not reach the pod',
    tests: 'webhook/src/admission',
    edits: [{ in: 'ask', find: 'deadline.withGrace(decision)', replace: 'deadline.within(decision)' }],
  },
  {
    name: 'a late step keeps what it took',
    because: 'the ledger counts a pod that does not have its place',
    tests: 'webhook/src/admission',
    edits: [{ in: 'ask', find: '({ undo }) => undo()', replace: '() => undefined' }],
  },
  {
    name: 'two steps write one field',
    because: 'the later one undoes what the earlier one decided',
    tests: 'webhook/src/admission',
    edits: [{ in: 'refuseSharedFields', find: 'shared !== undefined', replace: 'false' }],
  },
  {
    name: 'a step writes what it did not declare',
    because: 'nobody notices that another step writes it, too',
    tests: 'webhook/src/admission',
    edits: [{ in: 'refuseUndeclared', find: '!isDeclared(field, declared)', replace: 'false' }],
  },
  {
    name: 'each step brings in its own map',
    because: 'the second one takes away the annotations of the first',
    tests: 'webhook/src/admission',
    edits: [{ in: 'joinPatches', find: 'containers.has(path)', replace: 'false' }],
  },
  {
    name: 'the deficit of all revisions together',
    because: 'the new revision makes up for the old one, and is left with it when the old one is gone',
    tests: 'webhook/src/app',
    edits: [{ in: '#book', find: '{ replicaSetUid }', replace: '{ workloadUid: replicaSetUid }' }],
  },
  {
    name: 'one label of the two opts in',
    because: 'workloads are touched that nobody asked for',
    edits: [
      {
        in: 'managed',
        find: 'namespaceEnabled && workloadEnabled',
        replace: 'namespaceEnabled || workloadEnabled',
      },
    ],
  },
  {
    name: 'no renumbering',
    because: 'after a change of the policy scale-downs take pods of the wrong type',
    edits: [{ in: 'decideBeside', find: 'renumber(snapshot, members, standing, nowMs)', replace: 'null' }],
  },
  {
    name: 'renumbering looks at costs alone',
    because:
      'a pod keeps the rank of another cost, and growth after a change of the policy takes that rank again',
    tests: 'moves/repair',
    edits: [
      {
        in: 'displaced',
        find: '({ rank, cost }) => rank === null || cost !== deletionCost(numbers, type, rank) || !free.delete(rank)',
        replace:
          '({ cost }) => !free.delete([...free].find((rank) => cost === deletionCost(numbers, type, rank)) ?? -1)',
      },
    ],
  },
  {
    name: 'a StatefulSet keeps its floor by count alone',
    because: 'a scale-down to its first ordinals finds them on spot',
    tests: 'moves/repair',
    edits: [{ in: 'membersBelowFloor', find: 'index < minOnDemand', replace: 'index < 0' }],
  },
  {
    name: 'moves amid a rollout',
    because: 'pods are evicted that the rollout is about to replace',
    edits: [{ in: 'steadyGates', find: 'generationBehind, rolloutInProgress', replace: 'generationBehind' }],
  },
  {
    name: 'moves without the ledger',
    because: 'a replacement gets any type, and is moved again',
    edits: [{ in: 'steadyGates', find: '[ledgerUnreachable,', replace: '[' }],
  },
  {
    name: 'percentages of a PDB rounded down',
    because: 'one pod more goes than the application allows',
    edits: [
      {
        in: 'desiredHealthy',
        find: "minAvailable, expectedPods, 'up'",
        replace: "minAvailable, expectedPods, 'down'",
      },
    ],
  },
  {
    name: 'an unready pod is free for any PDB',
    because: 'evictions are sent that the API server refuses for ever',
    edits: [{ in: 'askPdbs', find: '&& needed > 0 && healthy >= needed', replace: '' }],
  },
  {
    name: 'the last available pod may go',
    because: 'a workload without a PDB loses one pod more than its own strategy allows',
    edits: [{ in: 'availabilityOf', find: 'available - 1 >= needed', replace: 'available >= needed' }],
  },
  {
    name: "one move more than the minute's budget",
    because: 'the limit of the whole cluster is exceeded',
    tests: 'core/src/disruption/arbitrate',
    edits: [
      {
        in: 'spent',
        find: 'return this.minute.left > 0 ? null',
        replace: 'return this.minute.left >= 0 ? null',
      },
    ],
  },
  {
    name: 'a new leader begins with a fresh budget',
    because: 'two leaders together move twice as much within a minute',
    tests: 'controller/src/kernel/disruption/register',
    edits: [{ in: 'begun', find: 'begun: [...inherited, ...this.#begun],', replace: 'begun: this.#begun,' }],
  },
  {
    name: 'a ledger is trusted though a release was lost',
    because: 'a place stays taken for a pod that is gone, and its successor gets the wrong type',
    tests: 'distribution/ledger/resync',
    edits: [{ in: 'agreementWith', find: 'missing.size === 0', replace: 'true' }],
  },
  {
    name: 'a ledger is trusted though a confirmation was lost',
    because: 'a reservation that nobody confirms is dropped with its pod still there',
    tests: 'distribution/ledger/resync',
    edits: [{ in: 'agreementWith', find: "entry?.state !== 'live'", replace: 'entry === undefined' }],
  },
  {
    name: 'a ledger is trusted though the watch is dead',
    because: 'it is compared with pods as they were',
    tests: 'distribution/ledger/resync',
    edits: [{ in: 'agreementWith', find: '!isFollowed()', replace: 'false' }],
  },
  {
    name: 'what the ledger was told since is trusted',
    because: 'an error of the telling itself is found up to twenty minutes later',
    edits: [{ in: 'touched', find: 'this.#trusted.delete(uid)', replace: 'void uid' }],
  },
  {
    name: 'four pods past the webhook',
    because: 'one eviction more than promised is made while nobody steers its replacement',
    tests: 'distribution/webhook/bypass',
    edits: [{ in: 'TOLERATED', find: 'const TOLERATED = 3;', replace: 'const TOLERATED = 4;' }],
  },
  {
    name: 'a pod that comes through opens the gate at once',
    because: 'behind two API servers, of which one reaches the webhook, evictions never stop',
    tests: 'distribution/webhook/bypass',
    edits: [
      { in: 'SIGN_AFTER_MS', find: 'const SIGN_AFTER_MS = 30_000;', replace: 'const SIGN_AFTER_MS = 0;' },
    ],
  },
  {
    name: 'moves are asked for by defaults that webhooks do not have',
    because: 'placeholders start nodes for moves that may not begin, and no reason says why',
    tests: 'moves/gate',
    edits: [
      { in: 'defaultsDiffer', find: 'nextTrialAtMs !== null && nextTrialAtMs <= nowMs', replace: 'true' },
    ],
  },
  {
    name: 'moves that were confirmed side by side all begin',
    because: 'more than one pod is evicted to try whether webhooks have the same defaults',
    tests: 'distribution/moves/defaults',
    edits: [{ in: 'Executor', find: 'if (!mayBegin)', replace: 'if (false)' }],
  },
  {
    name: 'two moves of one workload at once',
    because: 'the second rests on counts that the first is about to change',
    tests: 'moves/(gate|law)',
    edits: [{ in: 'moveInFlight', find: 'budgets.workload > 0', replace: 'budgets.workload > 1' }],
  },
  {
    name: 'a pod that must not be disrupted may go',
    because: 'what its owner asked of everybody is not heeded',
    tests: 'moves/candidate',
    edits: [{ in: 'doNotDisrupt', find: "text === 'true'", replace: 'false' }],
  },
  {
    name: 'an eviction without the UID',
    because: 'a pod of the same name that came meanwhile is evicted instead',
    edits: [{ in: 'evict', find: '{ uid, resourceVersion', replace: '{ resourceVersion' }],
  },
  {
    name: 'no cooldown after a move',
    because: 'a workload whose replacement came up on the wrong type is moved again and again',
    tests: '(moves/gate|disruption/cooldown)',
    edits: [{ in: 'moveGate', find: 'cooldown,', replace: '' }],
  },
  {
    name: 'a window is open at its very end',
    because: 'two windows that follow each other are one moment too long',
    edits: [{ in: 'isOpen', find: 'LONGEST_LOOK_BACK_MS)', replace: 'LONGEST_LOOK_BACK_MS) - 1' }],
  },
  {
    name: 'a failed attempt keeps its back-off',
    because: 'a long drought is tried as often as a short one, and each attempt costs a pod its time',
    edits: [{ in: 'fromHalfOpen', find: 'longer(backoffMs, backoff)', replace: 'backoffMs' }],
  },
  {
    name: 'a second permit while a pod is on its way',
    because: 'a whole scale-up is sent to capacity that one pod was to try out',
    edits: [{ in: 'fromHalfOpen', find: 'pending > 0 && rearmAtMs > nowMs', replace: 'false' }],
  },
  {
    name: 'a pod that fits no known spot node never waits for capacity',
    because: 'a pool that has lost its spot nodes for a day keeps its pods waiting for ever',
    tests: 'droughts/bridge',
    edits: [{ in: 'spotWait', find: "fits('spot') || fits('on-demand')", replace: "fits('spot')" }],
  },
  {
    name: 'a permit outlives its attempt',
    because: 'the end of one drought is taken for the end of the next',
    tests: 'ledger/src/memory/memory-ledger',
    edits: [{ in: 'write', find: 'next.state !== this.#breaker.state', replace: 'next.state === undefined' }],
  },
  {
    name: 'moves that another webhook undoes go on',
    because: 'every half hour a pod is evicted for nothing',
    tests: 'moves/repair',
    edits: [{ in: 'overridden', find: 'MOST_IN_VAIN', replace: '1_000' }],
  },
  {
    name: 'a pod that crashes for ever counts as a move of the last leader',
    because: 'after each change of the leader nothing is moved for as long as a move may last',
    tests: 'controller/src/kernel/leader/succession',
    edits: [
      {
        in: 'underWayUntilMs',
        find: 'NEGATIVE_INFINITY : createdAtMs + moveTimeoutMs',
        replace: 'NEGATIVE_INFINITY : Number.POSITIVE_INFINITY',
      },
    ],
  },
  {
    name: 'labels of a type beside the terms of a pod instead of in them',
    because: 'terms are alternatives: the pod may go where it was, on either type',
    edits: [
      {
        in: 'narrow',
        find: 'terms.flatMap(',
        replace: '[...terms, ...alternatives.map((matchExpressions) => ({ matchExpressions }))].flatMap(',
      },
    ],
  },
  {
    name: 'a term that selects nothing is narrowed',
    because: 'with our labels in it, it selects every node of the type',
    edits: [{ in: 'narrow', find: 'selectsNothing(term)', replace: 'false' }],
  },
  {
    name: 'keys are no JSON pointers',
    because: 'every key has a slash, and the API server refuses the whole patch',
    tests: 'core/src/capacity/',
    edits: [{ in: 'step', find: ".replaceAll('/', '~1')", replace: '' }],
  },
  {
    name: 'a certificate is served as soon as it is registered',
    because: 'API servers that have not noticed yet cannot verify it',
    edits: [{ in: 'settlesIn', find: 'settleMs - trustedForMs', replace: '0' }],
  },
  {
    name: 'registered authorities are dropped',
    because: 'a certificate that another replica still serves cannot be verified',
    edits: [{ in: 'wanted', find: '...(look.registered ?? []),', replace: '' }],
  },
  {
    name: 'a plan that does not see the move under way',
    because:
      'it takes the pod that is missing for one to be created, and begins before the replacement is Ready',
    edits: [
      { in: 'planFor', find: '!isMoving && members.length >= snapshot.workload.replicas', replace: 'true' },
    ],
  },
  {
    name: 'new pods on spot in a drought that was told of',
    because: 'a plan promises pods on spot that admission gives substitutes',
    tests: 'preview/plan',
    edits: [
      {
        in: 'admitted',
        find: "wanted === 'spot' && cause === 'scaled' && isDry(snapshot)",
        replace: 'false',
      },
    ],
  },
  {
    name: 'droughts told at every turn',
    because: 'the API server is written to though nothing changed',
    edits: [{ in: '#write', find: 'isDeepStrictEqual(droughts, this.#written)', replace: 'false' }],
  },
  {
    name: 'Redis: the slot decides the type',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        in: 'decidePlace',
        find: 'spot + 1 <= math.max(0, math.min(share, n - floor)) and ondemand - untyped >= floor',
        replace:
          'math.max(0, math.min(share, n - floor)) > math.max(0, math.min(math.floor(((n - 1) * tonumber(ARGV[3]) + 99) / 100), n - 1 - floor))',
      },
    ],
  },
  {
    name: 'Redis: ghosts dropped on stale replicas',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      { in: 'decidePlace', find: "if ARGV[6] == 'verified' then", replace: 'do' },
      {
        in: 'decidePlace',
        find: 'else local dirty =',
        replace: `end
if ARGV[6] ~= 'verified' then
  local dirty =`,
      },
    ],
  },
  {
    name: 'Redis: reservations expire silently',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        in: 'decidePlace',
        find: "return needlist('expired-pending')",
        replace: `drop(oldest[1], read(oldest[1]))
    spot, ondemand = counts()`,
      },
    ],
  },
  {
    name: 'Redis: no list after a release was seen',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [{ in: 'decidePlace', find: 'release > list', replace: 'false' }],
  },
  {
    name: "Redis: the reservation's own type trusted",
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        in: 'seePod',
        find: 'local entry = {',
        replace: `if before then
  ARGV[2] = before.type
end
local entry = {`,
      },
    ],
  },
  {
    name: 'Redis: a pod confirmed only if its reservation exists',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        in: 'seePod',
        find: "if before and before.state == 'L'",
        replace: `if not before then
  return -1
end
if before and before.state == 'L'`,
      },
    ],
  },
  {
    name: 'custom resources: quantities as floating point',
    because: '700m is more than 0.7, and a valid object is refused',
    tests: 'core/src/resource/amount',
    edits: [
      {
        in: 'readNano',
        find: `const divisor = 10n ** BigInt(fraction.length);
  return (scaled + divisor - 1n) / divisor;`,
        replace: `const small = { n: 1e-9, u: 1e-6, m: 1e-3 }[suffix] ?? Number(factor) * 10 ** (exponent - 9);
  return BigInt(Math.ceil(Number(whole + '.' + fraction) * small * 1e9));`,
      },
    ],
  },
  {
    name: 'custom resources: null is a value',
    because: 'the parser refuses what the API server gives its default',
    tests: 'core/src/resource/parse',
    edits: [
      {
        in: 'given',
        find: "const given = own(value, name) ?? ('default' in inner ? inner.default : undefined);",
        replace: `const written = own(value, name);
    const given = written === undefined && 'default' in inner ? inner.default : written;`,
      },
    ],
  },
  {
    name: 'custom resources: null in a map is a value',
    because: 'the parser refuses what the API server drops',
    tests: 'core/src/resource/parse',
    edits: [
      {
        in: 'entries',
        find: 'Object.entries(value).filter(([, inner]) => inner !== null)',
        replace: 'Object.entries(value)',
      },
    ],
  },
  {
    name: 'custom resources: lengths in code units',
    because: 'the API server accepts twenty rockets, and the parser refuses them',
    tests: 'core/src/resource/parse',
    edits: [{ in: 'lengthOf', find: 'Array.from(text).length', replace: 'text.length' }],
  },
  {
    name: 'custom resources: rules about fields that are wrong by themselves',
    because: 'one fault is reported twice',
    tests: 'core/src/resource/parse',
    edits: [{ in: 'readObject', find: 'if (found.count > before) return read;', replace: '' }],
  },
  {
    name: 'custom resources: the kind of the first problems',
    because: 'an object of a newer version counts as wrong, because its unknown field comes late',
    tests: 'core/src/resource/parse',
    edits: [
      {
        in: 'add',
        find: 'this.problems.length < MOST_PROBLEMS || isFirstNewer',
        replace: 'this.problems.length < MOST_PROBLEMS',
      },
    ],
  },
  {
    name: 'custom resources: a CRD with defaults that are not filled in',
    because: 'the API server refuses the CRD, whose rules it checks on the bare default',
    tests: 'core/src/resource/crd',
    edits: [{ in: 'properties', find: 'default: filled(spec, {})', replace: 'default: {}' }],
  },
  {
    name: 'conditions: a new time at every look',
    because: 'nobody sees since when a condition holds, and each look writes',
    tests: 'core/src/resource/condition',
    edits: [
      {
        in: 'lastTransitionTime',
        find: 'isAsBefore ? before.lastTransitionTime : timeText(look.nowMs)',
        replace: 'timeText(look.nowMs)',
      },
    ],
  },
  {
    name: 'conditions: a new list where nothing changed',
    because: 'each look writes the status',
    tests: 'core/src/resource/condition',
    edits: [
      { in: 'mergeConditions', find: 'return isUnchanged ? present : merged;', replace: 'return merged;' },
    ],
  },
  {
    name: 'conditions: a message cut in the middle of a character',
    because: 'the API server stores another character, and each look writes it again',
    tests: 'core/src/resource/condition',
    edits: [
      {
        in: 'message',
        find: 'cutTo(LONGEST_MESSAGE, message)',
        replace: 'message.slice(0, LONGEST_MESSAGE)',
      },
    ],
  },
  {
    name: 'conditions: no bound on a list that others write',
    because: 'the API server refuses the status',
    tests: 'core/src/resource/condition',
    edits: [{ in: 'merged', find: '.slice(0, MOST_CONDITIONS)', replace: '' }],
  },
  {
    name: 'two modules disturb one workload',
    because: 'a workload loses two pods at a time',
    tests: 'core/src/disruption/arbitrate',
    edits: [{ in: 'use', find: 'use.busy(intent.workload.uid) ?? (isExempt', replace: '(isExempt' }],
  },
  {
    name: 'one tenant takes all turns',
    because: 'the workloads of the others wait for as long as it churns',
    tests: 'core/src/disruption/arbitrate',
    edits: [{ in: 'byLoad', find: 'return a.load - b.load || (', replace: 'return (' }],
  },
  {
    name: 'a grant spends its budget only when it is confirmed',
    because: 'all that are granted while a LIST is under way exceed the budget together',
    tests: 'controller/src/kernel/disruption/executor',
    edits: [
      {
        in: 'underWay',
        find: 'underWay: new Map([...this.#underWay].map(',
        replace: "underWay: new Map([...this.#underWay].filter(([, { kind }]) => kind !== 'reserved').map(",
      },
    ],
  },
  {
    name: 'what a fresh look puts in place of a granted pod is not granted',
    because: 'two pods leave one node at a time',
    tests: 'controller/src/kernel/disruption/executor',
    edits: [
      {
        in: 'instead',
        find: 'const instead = arbiter.askToEvict(intent);',
        replace: 'const instead = arbiter.askToEvict(asked);',
      },
    ],
  },
  {
    name: 'modules are on where nobody says so',
    because: 'the doctor asks for rights that the chart does not give',
    tests: 'core/src/modules\\.test',
    edits: [{ in: 'isOn', find: '=== true', replace: '!== false' }],
  },
  {
    name: 'what a newer version wrote counts as invalid',
    because: 'its owner is told to mend what is right',
    edits: [{ in: 'readiness', find: "'NewerVersion'", replace: "'Invalid'" }],
  },
  {
    name: "a CPU limit on loan is right-sizing's as soon as no policy covers it",
    because:
      'what is owed is written over, and the limit that is given back is not the one that somebody wrote last',
    tests: 'core/src/resize/ownership',
    edits: [
      {
        in: 'ownerOf',
        find: 'return isLent || covers(container)',
        replace: 'return covers(container)',
      },
    ],
  },
  {
    name: 'a memory limit falls together with everything else',
    because: 'the kubelet holds back the CPU while memory is in use',
    tests: 'core/src/resize/step',
    edits: [
      { in: 'nextStep', find: 'const lowering = loweringOf(pod, changes);', replace: 'const lowering = [];' },
    ],
  },
  {
    name: 'a resize is verified by its spec',
    because: 'the spec is what was asked for, and the kubelet may never do it',
    tests: 'core/src/resize/progress',
    edits: [{ in: 'progressOf', find: 'return isApplied(pod, sent) ?', replace: 'return true ?' }],
  },
  {
    name: 'the minute of a deferred resize begins when it is sent',
    because: 'a kubelet that was away has no time to find room',
    tests: 'controller/src/kernel/resize',
    edits: [
      {
        in: '#verify',
        find: "if (progress.kind !== before.progress?.kind) flight.enter('verifying', now());",
        replace: '',
      },
    ],
  },
  {
    name: 'a new leader takes up what anybody left pending',
    because: 'it takes back what a person asked for by kubectl',
    tests: 'controller/src/kernel/resize',
    edits: [{ in: 'takeUp', find: '|| !isOurs(read.pod)', replace: '' }],
  },
  {
    name: 'a module acts before it has taken over',
    because: 'it disturbs what a former leader has begun',
    tests: 'controller/src/kernel/runner',
    edits: [{ in: '#carryOut', find: 'if (this.#isTakingOver)', replace: 'if (false)' }],
  },
  {
    name: 'a grant is carried out although a fresh look wants something else',
    because: 'a pod goes for what is not so any more',
    tests: 'controller/src/kernel/runner',
    edits: [{ in: '#evict', find: "confirmed?.kind !== 'evict' ||", replace: '' }],
  },
  {
    name: 'a disruption of an owner that nobody watches ends with its pod',
    because: 'the next pod goes before its replacement can be there',
    tests: 'controller/src/kernel/disruption/register',
    edits: [{ in: 'resultOf', find: '>= UNWATCHED_MS', replace: '>= 0' }],
  },
  {
    name: 'a disruption ends before its replacement is Ready',
    because: 'a workload loses two pods at a time',
    tests: 'controller/src/kernel/disruption/register',
    edits: [{ in: 'isWhole', find: 'Math.min(readyIn(before), wanted)', replace: '0' }],
  },
  {
    name: 'usage with a warning is as good as without',
    because: 'the store that is missing may have the hottest pod, and everything is made too small',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [{ in: 'readData', find: 'Array.isArray(warnings) && warnings.length > 0', replace: 'false' }],
  },
  {
    name: 'usage is NaN',
    because: 'a percentile of NaN is NaN, and so is the request',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [
      { in: 'plausible', find: "if (!Number.isFinite(amount)) return 'NotANumber';", replace: '' },
      {
        in: 'plausible',
        find: "amount >= 0 && amount <= highest ? amount : 'OutOfRange'",
        replace: 'amount',
      },
    ],
  },
  {
    name: 'usage of any size is read',
    because: 'an answer without an end fills the memory of the controller',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [{ in: '#textOf', find: 'if (size > this.#maxBytes) return null;', replace: '' }],
  },
  {
    name: 'usage measured once counts as often as it is read',
    because: 'a kubelet that hangs looks like a constant load',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [
      {
        in: '#add',
        find: 'measuredMs !== null && last?.measuredMs === measuredMs',
        replace: 'last === undefined && measuredMs === 0',
      },
    ],
  },
  {
    name: 'usage of half the namespaces is a sample',
    because: 'containers of the other half seem to have ended',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [{ in: 'sample', find: 'if (problem !== undefined) return this.#failed(problem);', replace: '' }],
  },
  {
    name: 'usage by a name with vowels',
    because: 'the pods of web-backend count for web',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [{ in: 'SAFE', find: 'bcdfghjklmnpqrstvwxz2456789', replace: 'a-z0-9' }],
  },
  {
    name: 'usage of a pod whose name fits two workloads',
    because: 'one of them is sized by the other',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [{ in: '#byName', find: 'candidates.length === 1', replace: 'candidates.length > 0' }],
  },
  {
    name: 'usage is asked of a dead server to the end',
    because: 'ten thousand containers cost hours of timeouts',
    tests: 'controller/src/modules/rightsizing/usage',
    edits: [{ in: 'GIVEN_UP_AFTER', find: 'AT_A_TIME', replace: 'Number.POSITIVE_INFINITY' }],
  },
];
