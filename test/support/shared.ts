/**
 * Recorded streams and schemas that are not part of this repository. Where the folder is missing,
 * a test over it is reported as skipped, never as passed.
 */
import { existsSync, readFileSync } from 'node:fs'

const folder = new URL('../../../shared/', import.meta.url)

export const sharedExists = existsSync(folder)

export function readShared(path: string): Buffer {
  return readFileSync(new URL(path, folder))
}

export function sharedUrl(path: string): URL {
  return new URL(path, folder)
}
