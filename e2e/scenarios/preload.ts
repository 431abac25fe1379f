/** The environment of a Node process that runs a module before its own. */
export function preloaded(source: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
