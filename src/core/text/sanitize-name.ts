/**
 * What somebody calls himself, or something, made fit to stand among words of others. What is unfit
 * there is for whoever puts it there to say.
 */

/** In one line, with one blank for each run of what is unfit. */
export function sanitizeName(name: string, unfit: RegExp): string {
  return name.replace(unfit, ' ').replace(/ {2,}/g, ' ').trim()
}

/** In characters; OpenAI takes no more. */
export const MAX_NAME_CHARS = 64

/** Its beginning. A character of two halves is not parted. */
export function truncateName(name: string): string {
  return name
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd()
}
