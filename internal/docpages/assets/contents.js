"use strict";
// Scrolls the contents at the side to the page that they are about. On a phone they do not
// scroll by themselves.
const contents = document.querySelector(".contents");
const current = contents.querySelector("[aria-current]");
if (current) contents.scrollTop = current.offsetTop - contents.clientHeight / 3;
