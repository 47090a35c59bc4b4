/** Defines the function that writes log lines. */

/** Writes one line. Fields never hold keys, prompts or payloads. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  event: string,
  fields?: Readonly<Record<string, string | number | boolean | null>>,
) => void
