export { waitFor, type WaitOptions } from './process/wait.ts';
export { RedisNode } from './redis/node.ts';
export { type RedisOptions, RedisServers, startRedis } from './redis/servers.ts';
