/**
 * What somebody calls himself, or something, made fit to stand among words of others. What is unfit
 * there is for whoever puts it there to say.
 */

/** In one line, with one blank for each run of what is unfit. */
export function fitName(name: string, unfit: RegExp): string {
  return name.replace(unfit, ' ').replace(/ {2,}/g, ' ').trim()
}

/** In characters; OpenAI takes no more. */
export const LONGEST_NAME = 64

/** Its beginning. A character of two halves is not parted. */
export function cutName(name: string): string {
  return name
    .slice(0, LONGEST_NAME)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
    .trimEnd()
}
