const find = document.getElementById("find"), kind = document.getElementById("kind"),
  outcome = document.getElementById("outcome"), shown = document.getElementById("shown");
const cases = [...document.querySelectorAll("details.q")];
function sift() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const one of cases) {
    const fits = (!kind.value || one.dataset.kind === kind.value)
      && (!outcome.value || one.dataset.outcome.split(" ").includes(outcome.value))
      && words.every(word => one.textContent.toLowerCase().includes(word));
    one.hidden = !fits;
    n += fits;
  }
  shown.textContent = `${n} of ${cases.length}`;
}
for (const control of [find, kind, outcome]) control.addEventListener("input", sift);
sift();
function unfold() {
  const one = location.hash && document.getElementById(location.hash.slice(1));
  if (one) { one.hidden = false; one.open = true; one.scrollIntoView(); }
}
addEventListener("hashchange", unfold);
unfold();
