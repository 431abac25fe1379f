/**
 * Rules that were tried and were wrong, each as an edit of the source that brings it back. `because` says what goes
 * wrong then. Every `find` has to occur exactly once, so that an edit of the source cannot silently disarm one.
 */
const next = 'packages/core/src/distribution/next.ts';
const slot = 'packages/core/src/distribution/slot.ts';
const target = 'packages/core/src/distribution/target.ts';
const book = 'packages/ledger/src/memory/revision-book.ts';
const outage = 'packages/ledger/src/outage.ts';
const flight = 'packages/webhook/src/reserve/flight.ts';
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
        find: "return counts.spot + 1 <= targetSpot(policy, counts.spot + counts.onDemand + 1) ? 'spot' : 'on-demand';",
        replace: `const n = counts.spot + counts.onDemand;
  return targetSpot(policy, n + 1) > targetSpot(policy, n) ? 'spot' : 'on-demand';`,
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
        find: 'typeForNext(policy, this.#typeCounts())',
        replace:
          'typeForNext(policy, { spot: this.#typeCounts().spot, onDemand: Math.max(0, (this.#replicas?.replicas ?? 0) - this.#typeCounts().spot - 1) })',
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
        find: "    if (entry?.state === 'live' && compareResourceVersions(entry.asOf, pod.resourceVersion) >= 0)",
        replace:
          "    if (entry === undefined) return 'gone';\n    if (entry.state === 'live' && compareResourceVersions(entry.asOf, pod.resourceVersion) >= 0)",
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
    name: 'Redis: the slot decides the type',
    because: 'the script in Redis has this fault',
    tests: 'redis',
    edits: [
      {
        file: decideScript,
        find: 'if spot + 1 <= math.max(0, math.min(share, n - tonumber(ARGV[4]))) then',
        replace: `local before = math.floor(((n - 1) * tonumber(ARGV[3]) + 99) / 100)
  if math.max(0, math.min(share, n - tonumber(ARGV[4]))) > math.max(0, math.min(before, n - 1 - tonumber(ARGV[4]))) then`,
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
