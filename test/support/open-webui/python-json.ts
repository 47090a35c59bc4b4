/** Formats JSON as Python's `json.dumps` does: `", "` and `": "` as separators, ASCII only. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${(value as readonly unknown[]).map(pythonJson).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    return `{${fields.map(([name, field]) => `${ascii(name)}: ${pythonJson(field)}`).join(', ')}}`
  }
  return typeof value === 'string' ? ascii(value) : JSON.stringify(value ?? null)
}

/**
 * Returns call arguments as Open WebUI stores them: parsed and formatted again; invalid JSON stays unchanged.
 */
export function rewrittenArguments(text: string): string {
  try {
    return pythonJson(JSON.parse(text === '' ? '{}' : text))
  } catch {
    return text
  }
}

function ascii(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
