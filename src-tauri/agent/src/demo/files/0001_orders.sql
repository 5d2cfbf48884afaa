CREATE TABLE orders (
  id uuid PRIMARY KEY,
  customer text NOT NULL,
  total integer NOT NULL CHECK (total >= 0),
  placed_at timestamptz NOT NULL DEFAULT now()
);
