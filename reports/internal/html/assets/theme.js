"use strict";
// Before anything is shown: the theme that the reader chose, where the browser remembers.
try {
  const chosen = localStorage.getItem("lockbench-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* files and sandboxes may have no storage */ }
