/**
 * Finds out whether two texts are equal but for dates and times, e.g. `It is 2026-11-20, 14:05.` and
 * `It is 2026-11-21, 09:30.`
 */
export function differsOnlyInDates(one: string, other: string): boolean {
  return one !== other && hideDates(one) === hideDates(other)
}

/** Replaces dates, times and the names of months and weekdays: `Friday, 20 Nov 2026, 14:05` → `#, #, #`. */
function hideDates(text: string): string {
  return text.replace(DATE_OR_TIME, '#')
}

const MONTH =
  '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\\.?'
const TIME =
  '\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:\\s?(?:[AaPp][Mm]\\b|[AaPp]\\.[Mm]\\.))?(?:Z|[+-]\\d{2}:?\\d{2})?'
const DATE_OR_TIME = new RegExp(
  [
    `\\d{4}-\\d{2}-\\d{2}(?:[T ]${TIME})?`,
    `\\d{1,2}[./]\\d{1,2}[./](?:\\d{4}|\\d{2})`,
    TIME,
    `\\b${MONTH} \\d{1,2}(?:st|nd|rd|th)?\\b(?:,? \\d{4}\\b)?`,
    `\\b\\d{1,2}(?:st|nd|rd|th|\\.)? ${MONTH}(?:,? \\d{4}\\b)?`,
    '\\b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\\b',
  ].join('|'),
  'g',
)
