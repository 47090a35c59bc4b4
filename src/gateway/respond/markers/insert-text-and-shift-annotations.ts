/**
 * What is told to a client in the text of an answer beyond what the model has said. The answer stays
 * as it is: here it is put into that which the client is told of it.
 */
import type { AnnotationAdded, ItemEnded, TextDelta } from '../../../core/stream-event.ts'
import type { Item, Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'

export interface TextInsertions {
  /** `at` counts the model's own characters. What is added later stands behind. */
  readonly add: (added: TextInsertion) => TextDelta
  /** The same object where nothing is added to what it is about. */
  readonly toItem: (event: ItemEnded) => ItemEnded
  readonly toAnnotation: (event: AnnotationAdded) => AnnotationAdded
  /** Its items are those that `toItem` was given. */
  readonly toOutcome: (outcome: Outcome) => Outcome
}

export interface TextInsertion {
  readonly index: number
  readonly part: number
  readonly at: number
  readonly text: string
}

export function createTextInsertions(): TextInsertions {
  const all: TextInsertion[] = []
  const items = new Map<Item, Item>()
  const addedTo = (index: number, part: number): readonly TextInsertion[] =>
    all.filter((added) => added.index === index && added.part === part)
  return {
    add(added) {
      all.push(added)
      return { type: 'text-delta', index: added.index, part: added.part, text: added.text }
    },
    toItem(event) {
      const { index, item } = event
      if (item.type !== 'message' || all.every((added) => added.index !== index)) return event
      const content = item.content.map((part, at) => withAdded(part, addedTo(index, at)))
      const whole: Item = { ...item, content }
      items.set(item, whole)
      return { ...event, item: whole }
    },
    toAnnotation(event) {
      const annotation = moved(event.annotation, addedTo(event.index, event.part))
      return annotation === event.annotation ? event : { ...event, annotation }
    },
    toOutcome(outcome) {
      if (items.size === 0) return outcome
      return { ...outcome, items: outcome.items.map((item) => items.get(item) ?? item) }
    },
  }
}

function withAdded(part: Part, added: readonly TextInsertion[]): Part {
  if (added.length === 0 || part.type !== 'output_text') return part
  let text = part.text
  for (const { at, text: more } of added.toReversed()) {
    text = text.slice(0, at) + more + text.slice(at)
  }
  const { annotations } = part
  if (annotations === undefined) return { ...part, text }
  return { ...part, text, annotations: annotations.map((one) => moved(one, added)) }
}

/** An annotation says where in the text it belongs. */
function moved(annotation: JsonObject, added: readonly TextInsertion[]): JsonObject {
  if (added.length === 0) return annotation
  const places = PLACES.flatMap(([name, isEnd]) => {
    const place = annotation[name]
    if (typeof place !== 'number') return []
    const before = added.filter(({ at }) => (isEnd ? at < place : at <= place))
    return [[name, before.reduce((sum, { text }) => sum + text.length, place)] as const]
  })
  return { ...annotation, ...Object.fromEntries(places) }
}

/** An end is the place behind the last character. */
const PLACES = [
  ['start_index', false],
  ['end_index', true],
  ['index', false],
] as const
