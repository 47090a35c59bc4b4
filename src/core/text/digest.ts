/**
 * A short name for a text: two texts of the same name are the same text. 132 bits of SHA-256, which
 * both runtimes have synchronously.
 */
import { createHash, hash } from 'node:crypto'

export function digestText(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** The same of a text that comes piece by piece. It may be asked for at any time, and goes on. */
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
