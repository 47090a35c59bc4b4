import { MARK_BYTE } from './traffic.ts'

/** Counts the marks in `bytes` between the offsets `from` and `to`. */
export function countMarks(bytes: Buffer, from: number, to: number): number {
  let marks = 0
  for (let at = bytes.indexOf(MARK_BYTE, from); at >= 0 && at < to; marks += 1) {
    at = bytes.indexOf(MARK_BYTE, at + 1)
  }
  return marks
}
