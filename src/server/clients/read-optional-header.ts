/**
 * What a header says. `null` where it says nothing: it is not there, it is empty, as Open WebUI sends
 * those that it has no value for, or it is a template that an older Open WebUI did not know to fill.
 */
export function readOptionalHeader(headers: Headers, name: string): string | null {
  const value = headers.get(name)
  return value === null || value === '' || value.startsWith('{{') ? null : value
}
