// Shapes onto a canvas, and the one that was clicked.

export function paint(context, shapes) {
  for (const shape of shapes) {
    context.globalAlpha = shape.alpha ?? 1;
    KINDS[shape.kind](context, shape);
  }
  context.globalAlpha = 1;
}

const KINDS = {
  rect(context, { x, y, w, h, r, fill, stroke }) {
    if (r && w > 3) {
      context.beginPath();
      context.roundRect(x, y, w, h, r);
      context.fillStyle = fill;
      context.fill();
    } else {
      context.fillStyle = fill;
      context.fillRect(x, y, w, h);
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = 1.5;
      if (r && w > 3) context.stroke();
      else context.strokeRect(x, y, w, h);
    }
  },

  // Many that look the same and stand at the same height, each with its x.
  marks(context, { xs, y, w, h, r, fill, stroke }) {
    context.fillStyle = fill;
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = 1.5;
    }
    for (const x of xs) {
      if (r) {
        context.beginPath();
        context.roundRect(x, y, w, h, r);
        context.fill();
        if (stroke) context.stroke();
      } else {
        context.fillRect(x, y, w, h);
        if (stroke) context.strokeRect(x, y, w, h);
      }
    }
  },

  path(context, { points, stroke, width, dash }) {
    context.beginPath();
    points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.lineJoin = "round";
    if (dash) context.setLineDash(dash);
    context.stroke();
    if (dash) context.setLineDash([]);
  },

  dot(context, { x, y, r, fill, stroke }) {
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = 2;
      context.stroke();
    }
  },

  half(context, { x, y, r, fill }) {
    context.beginPath();
    context.arc(x, y, r, Math.PI / 2, 1.5 * Math.PI);
    context.fillStyle = fill;
    context.fill();
  },

  area(context, { points, fill }) {
    context.beginPath();
    points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.fillStyle = fill;
    context.fill();
  },

  text(context, { x, y, text, fill, size = 11, align = "left" }) {
    context.font = `600 ${size}px system-ui, "DejaVu Sans", sans-serif`;
    context.textAlign = align;
    context.textBaseline = "middle";
    context.fillStyle = fill;
    context.fillText(text, x, y);
  },

  cross(context, { x, y, r, stroke }) {
    context.beginPath();
    context.moveTo(x - r, y - r);
    context.lineTo(x + r, y + r);
    context.moveTo(x - r, y + r);
    context.lineTo(x + r, y - r);
    context.strokeStyle = stroke;
    context.lineWidth = 2;
    context.stroke();
  },
};

// The packet that was drawn last at a point, a little around it included.
export function spotAt(spots, x, y) {
  const near = 3;
  return spots.findLast((spot) => x >= spot.x - near && x <= spot.x + spot.w + near
    && y >= spot.y - near && y <= spot.y + spot.h + near);
}
