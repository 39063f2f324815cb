// Saves files that are made in the page: a plot as a picture, and the data that the page holds.
const save = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

// What an element holds as gzip in base64. A function, because a script before this one calls it.
function unpacked(element) {
  const packed = atob(element.textContent.trim());
  const bytes = new Uint8Array(packed.length);
  for (let index = 0; index < packed.length; index += 1) bytes[index] = packed.charCodeAt(index);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

// What a press of the button does; it cannot be pressed again meanwhile, and says so where it goes wrong.
const onPress = (button, act) => button.addEventListener("click", async () => {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await act();
  } catch (error) {
    const told = document.createElement("span");
    told.setAttribute("role", "alert");
    told.textContent = ` not saved: ${error.message}`;
    button.after(told);
  } finally {
    button.removeAttribute("aria-disabled");
  }
});

// The data: gzip in base64, unpacked only when it is asked for.
if ("DecompressionStream" in window) {
  for (const button of document.querySelectorAll("button[data-file]")) {
    const { file, type } = button.dataset;
    onPress(button, async () => {
      const text = await unpacked(document.getElementById(file)).arrayBuffer();
      save(new Blob([text], { type }), `${document.querySelector("main").dataset.name}-${file}`);
    });
    button.hidden = false;
  }
}
