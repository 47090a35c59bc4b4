/** Writes one log line. Fields never contain keys, prompts or payloads. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  event: string,
  fields?: Readonly<Record<string, string | number | boolean | null>>,
) => void
