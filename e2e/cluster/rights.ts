/** What the charts grant and no service used, all clusters of a run taken together: `node e2e/cluster/rights.ts FILE`. */
import { readFileSync } from 'node:fs';
import { grants } from './installation/calls.ts';
import { whyNoRealNode } from './real-node/possible.ts';

const [file = ''] = process.argv.slice(2);
const used = new Set(readFileSync(file, 'utf8').split('\n'));
const unused = grants().filter((grant) => !used.has(grant));
const whyNot = await whyNoRealNode();
// The rest is for what only pods behind a Service do.
if (whyNot !== undefined) process.stdout.write(`rights are not compared without a real node: ${whyNot}\n`);
else if (unused.length > 0) {
  process.stdout.write(`granted by charts/*/rbac, and never used:\n  ${unused.join('\n  ')}\n`);
  process.exitCode = 1;
}
