/** Whether a text takes more than so many bytes. A character takes three at most, so few are counted. */
export function exceedsByteLimit(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return false
  return text.length > bytes || utf8.encode(text).length > bytes
}

const utf8 = new TextEncoder()

/** As much less than 64 KiB, which no line may reach, as its frame may take. */
export const MAX_LINE_BYTES = 64_000
