/** Hashes texts with SHA-256, shortened to 22 characters (132 bits), so that only equal texts have equal hashes. */
import { createHash, hash } from 'node:crypto'

export function digestText(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Hashes a text that arrives in pieces. `currentDigest` returns the hash of all pieces so far. */
export interface RunningDigest {
  readonly add: (text: string) => void
  readonly currentDigest: () => string
}

export function createRunningDigest(): RunningDigest {
  const hash = createHash('sha256')
  return {
    add: (text) => void hash.update(text),
    currentDigest: () => hash.copy().digest('base64url').slice(0, 22),
  }
}
