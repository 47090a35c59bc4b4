/** What stands for a medium that a model is not shown. It says nothing that changes from turn to turn. */
import { noticePart, type NoticePart } from '../core/text/gateway-notice.ts'

export function mediaNotice(what: string, why: string): NoticePart {
  return noticePart(`A medium (${what}) that was here is not shown: ${why}.`)
}
