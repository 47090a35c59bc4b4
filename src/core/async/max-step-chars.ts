/**
 * The most characters or bytes of JSON that are processed in one step, which takes a few milliseconds. Longer texts, bodies and
 * histories are large: they are processed in several steps, between which other requests are served
 * (`yield-to-event-loop.ts`).
 */
export const MAX_STEP_CHARS = 1_000_000
