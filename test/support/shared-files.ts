/**
 * Recorded streams and schemas outside of this repository. Without the folder, tests that need it are
 * reported as skipped.
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
