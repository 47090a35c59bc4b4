/** Hashes texts with SHA-256, shortened to 132 bits (22 characters): equal hashes mean equal texts. */
import { createHash, hash } from 'node:crypto'

export function digestText(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Hashes a text that arrives in pieces. `soFar` can be called at any time. */
export interface RunningDigest {
  readonly add: (text: string) => void
  readonly soFar: () => string
}

export function createRunningDigest(): RunningDigest {
  const hash = createHash('sha256')
  return {
    add: (text) => void hash.update(text),
    soFar: () => hash.copy().digest('base64url').slice(0, 22),
  }
}
