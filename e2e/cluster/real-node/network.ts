import { run } from '../process/run.ts';
import type { Toolbox } from '../process/toolbox.ts';

/**
 * The addresses of one real node: all out of 198.18.0.0/15, which is set aside for tests and routed nowhere.
 * Everything but `hostAddress` is inside the node's own network namespace and goes with it.
 */
export interface NodeNetwork {
  /** The line to the node, as this machine sees it. */
  readonly link: string;
  readonly hostAddress: string;
  readonly nodeAddress: string;
  readonly podRange: string;
  readonly serviceRange: string;
  /** The first of the range: what the `kubernetes` Service gets. */
  readonly serviceAddress: string;
}

const NODES_PER_MACHINE = 100;

function planNetwork(index: number): NodeNetwork {
  return {
    link: `spotalis${index}`,
    hostAddress: `198.18.${index}.1`,
    nodeAddress: `198.18.${index}.2`,
    podRange: `198.19.${index}.0/24`,
    serviceRange: `198.18.${128 + index}.0/24`,
    serviceAddress: `198.18.${128 + index}.1`,
  };
}

/** Connects this machine with the network namespace of `pid`. The line's name is what reserves the addresses. */
export async function connectNode(toolbox: Toolbox, pid: number): Promise<NodeNetwork> {
  for (let index = 0; index < NODES_PER_MACHINE; index++) {
    const network = planNetwork(index);
    const { link, hostAddress, nodeAddress, podRange, serviceRange } = network;
    const peer = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)];
    try {
      await toolbox.run('ip', ['link', 'add', link, ...peer]);
    } catch (error) {
      if (String(error).includes('File exists')) continue;
      throw error;
    }
    await toolbox.run('ip', ['address', 'add', `${hostAddress}/30`, 'dev', link]);
    await toolbox.run('ip', ['link', 'set', link, 'up']);
    await inside(pid, [
      'ip link set lo up',
      `ip address add ${nodeAddress}/30 dev eth0`,
      'ip link set eth0 up',
      `ip route add default via ${hostAddress}`,
      'echo 1 > /proc/sys/net/ipv4/ip_forward',
      'echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables',
    ]);
    for (const range of [podRange, serviceRange])
      await toolbox.run('ip', ['route', 'add', range, 'via', nodeAddress]);
    return network;
  }
  throw new Error(`${NODES_PER_MACHINE} real nodes run on this machine already: end some`);
}

async function inside(pid: number, commands: readonly string[]): Promise<void> {
  const script = commands.join(' && ');
  const done = await run('nsenter', ['-t', String(pid), '-m', '-n', 'sh', '-c', script]);
  if (!done.ok) throw new Error(`the network of the node could not be made: ${done.stderr.trim()}`);
}
