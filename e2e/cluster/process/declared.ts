/** Thrown when a test file uses a part that it does not name after `@needs` in its first comment. */
class PartNotDeclared extends Error {
  readonly code = 'PART_NOT_DECLARED';
}

/**
 * The runner of all tests plays a file once the parts it names are there. On a machine where they are in the cache
 * anyway, a forgotten name would be noticed by nobody.
 */
export function mustBeDeclared(part: string): void {
  const declared = process.env['SPOTALIS_TEST_PARTS']?.split(' ');
  if (declared?.includes(part) === false)
    throw new PartNotDeclared(
      `this test uses '${part}': add it to the names after @needs in the first comment of its file`,
    );
}
