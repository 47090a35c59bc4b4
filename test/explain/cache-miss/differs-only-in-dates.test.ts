import { expect, test } from 'vitest'
import { differsOnlyInDates } from '../../../src/explain/cache-miss/differs-only-in-dates.ts'

test.each([
  ['Today is 2026-11-20.', 'Today is 2026-11-21.'],
  ['It is 2026-11-20 14:05:59, Friday.', 'It is 2026-11-21 09:00:01, Saturday.'],
  ['It is 2026-11-20T14:05:59.123Z', 'It is 2026-11-21T14:05:59Z'],
  ['It is 2:05 PM now.', 'It is 11:59:07 a.m. now.'],
  ['Date: November 20, 2026', 'Date: Dec 1st, 2026'],
  ['Date: 20. Nov 2026', 'Date: 1 December 2027'],
  ['20.11.2026 or 11/20/26', '21.11.2026 or 11/21/26'],
])('%j and %j differ only in dates', (one, other) => {
  expect(differsOnlyInDates(one, other)).toBe(true)
})

test.each([
  ['Be kind.', 'Be kind.'],
  ['You have 3 apples.', 'You have 4 apples.'],
  ['Today is 2026-11-20. Be kind.', 'Today is 2026-11-21. Be brief.'],
  ['May I?', 'May you?'],
  ['Version 1.2.3', 'Version 1.2.4'],
])('%j and %j differ in more than dates, or not at all', (one, other) => {
  expect(differsOnlyInDates(one, other)).toBe(false)
})
