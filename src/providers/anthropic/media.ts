/** What the API takes of media. */
import type { WireMediaSupport } from '../provider-interface.ts'

export const MEDIA_SUPPORT: WireMediaSupport = {
  loads: (_, url) => url.startsWith('https:'),
  // Counted as base64: https://platform.claude.com/docs/en/build-with-claude/vision
  imageChars: 5 * 1024 * 1024,
  // Of 32 MB, with room for what is said.
  requestChars: 30_000_000,
}
