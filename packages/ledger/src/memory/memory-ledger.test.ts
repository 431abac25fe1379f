import { describe } from '@jest/globals';
import { describeLedger } from '../testing/contract.ts';
import { memorySubject } from '../testing/subject.ts';

describe('the embedded ledger', () => {
  const subject = memorySubject();
  describeLedger(() => subject);
});
