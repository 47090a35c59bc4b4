/**
 * Converts citations to annotations of the Responses API. The original citation is stored in the
 * message's `native` field, because the provider requires that it is sent back unchanged.
 */
import { textOrEmpty, type JsonObject } from '../../../core/json/json.ts'

/**
 * Converts a citation to an annotation of the complete text block. Returns `null` for a type of
 * citation that the Responses API does not have.
 */
export function convertCitation(citation: JsonObject, length: number): JsonObject | null {
  switch (citation['type']) {
    case 'web_search_result_location':
      return createUrlCitation(textOrEmpty(citation['url']), citation, length)
    case 'search_result_location':
      return createUrlCitation(textOrEmpty(citation['source']), citation, length)
    case 'char_location':
    case 'page_location':
    case 'content_block_location':
      return createFileCitation(citation, length)
    default:
      return null
  }
}

function createUrlCitation(url: string, { title }: JsonObject, length: number): JsonObject {
  return { type: 'url_citation', url, title: textOrEmpty(title), start_index: 0, end_index: length }
}

function createFileCitation(citation: JsonObject, length: number): JsonObject {
  const { file_id, document_title, document_index } = citation
  const number = typeof document_index === 'number' ? document_index + 1 : 1
  const filename = textOrEmpty(document_title) || `document ${number}`
  return { type: 'file_citation', file_id: textOrEmpty(file_id), filename, index: length }
}
