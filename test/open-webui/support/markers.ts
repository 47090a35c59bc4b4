/** Finds what the gateway itself wrote into a text: its markers, and its name. */

/** A marker is a ULID or its first characters, such as `[01KQZ3V8M6T2X9R4B7C9]: #`. */
const MARKER = /\b0[0-9A-HJKMNP-TV-Z]{19,25}\b|\b[Bb]ackstory\b[\w-]*/g

export function findMarkers(text: string): readonly string[] {
  return [...text.matchAll(MARKER)].map(([found]) => found)
}
