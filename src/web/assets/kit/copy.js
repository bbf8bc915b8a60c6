// Buttons that copy. Without this script, people select the text.

/** Shows the buttons below `root` that need a script. @param {ParentNode} root */
export function showButtons(root) {
  for (const button of root.querySelectorAll('button[data-copy], button[data-print]'))
    if (button instanceof HTMLButtonElement) button.hidden = false
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null
  if (button?.dataset.copy !== undefined) void copy(button)
})

/** @param {HTMLElement} button */
async function copy(button) {
  const label = button.querySelector('span')
  if (label === null) return
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? '')
    const before = [...label.childNodes]
    label.textContent = button.dataset.done ?? ''
    setTimeout(() => label.replaceChildren(...before), 3000)
  } catch {
    // Without permission, the text is selected for the person's own copy command.
    const value = button.parentElement?.querySelector('.value, code')
    if (value) getSelection()?.selectAllChildren(value)
  }
}
