/** Each key as it is pressed; undefined where there is no terminal on both sides. */
export function keysPressed(): AsyncIterable<string> | undefined {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  process.once('exit', () => stdin.setRawMode(false));
  return (async function* () {
    for await (const key of stdin as AsyncIterable<string>) {
      // In raw mode the terminal makes no signal of Ctrl-C.
      if (key === '\u0003' || key === 'q') process.kill(process.pid, 'SIGINT');
      else yield key;
    }
  })();
}
