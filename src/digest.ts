/**
 * A short name for a text: two texts of the same name are the same text. 132 bits of SHA-256, which
 * both runtimes have synchronously.
 */
import { createHash } from 'node:crypto'

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
