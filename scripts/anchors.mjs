/**
 * Finds the place of an edit by what it stands in, not by file and line: `in` names a declaration (a function, a method,
 * a class, a constant, or a script of Redis by its file's name without the number of keys), `find` is a short piece of
 * code in it. White space does not count, nor does the comma that the formatter puts before a closing bracket.
 */

/** What may stand before a declared name on its line. */
const modifiers =
  '(?:(?:export|default|async|static|readonly|override|get|set|function|const|let|class|local)\\s+|\\*)*';

const escaped = (text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');

/** Words are found whole: `by` is not found in `bypass`. */
function patternOf(find) {
  const tokens = find.match(/[\w#$]+|\S/g).map((token) => {
    if (/[\w$]/.test(token)) return `(?<![\\w#$])${escaped(token)}(?![\\w$])`;
    return /[)\]}]/.test(token) ? `(?:,\\s*)?${escaped(token)}` : escaped(token);
  });
  return new RegExp(tokens.join('\\s*'), 'g');
}

/** Where the text declares the name. The formatter indents what belongs to a declaration, so it ends with its indentation. */
function* declarationsOf(name, text) {
  const head = new RegExp(`^([ \\t]*)${modifiers}${escaped(name)}(?![\\w$])`, 'gm');
  for (const { index, 0: line, 1: indentation } of text.matchAll(head)) {
    const next = new RegExp(`^(?!${indentation}[ \\t]|${indentation}[)\\]}]|[ \\t]*$)`, 'gm');
    next.lastIndex = index + line.length;
    yield { start: index, end: next.exec(text)?.index ?? text.length };
  }
}

const scriptName = (path) => /([^/]+)-\d+\.lua$/.exec(path)?.[1];

/** Every place in the sources (text by path) that an anchor leads to; two declarations around one place are one. */
function placesOf(anchor, sources) {
  const pattern = patternOf(anchor.find);
  const places = new Map();
  for (const [path, text] of sources) {
    if (!text.includes(anchor.in) && scriptName(path) !== anchor.in) continue;
    const whole = scriptName(path) === anchor.in ? [{ start: 0, end: text.length }] : [];
    for (const { start, end } of [...whole, ...declarationsOf(anchor.in, text)]) {
      for (const found of text.slice(start, end).matchAll(pattern)) {
        const from = start + found.index;
        places.set(`${path}:${from}`, { path, from, to: from + found[0].length });
      }
    }
  }
  return [...places.values()];
}

/** The one place that the anchor leads to; throws where it is lost, or leads to several. */
export function placeOf(anchor, sources) {
  const places = placesOf(anchor, sources);
  const [place] = places;
  if (places.length === 1) return place;
  const where = places.map(({ path }) => path).join(', ');
  throw new Error(
    `${anchor.in} has '${anchor.find}' ${places.length} times, not once${where === '' ? '' : `: ${where}`}`,
  );
}

/** The files that the edits change, with their new texts. Each edit is applied to what the ones before it leave. */
export function applied(edits, sources) {
  const edited = new Map(sources);
  const changed = new Map();
  for (const edit of edits) {
    const { path, from, to } = placeOf(edit, edited);
    const text = edited.get(path);
    const after = text.slice(0, from) + edit.replace + text.slice(to);
    edited.set(path, after);
    changed.set(path, after);
  }
  return changed;
}
